package bench

import (
	"math"
	"strings"
	"testing"
)

func TestWhatVLLMReadHasToFitTheRequest(t *testing.T) {
	minus := -1
	for name, tt := range map[string]struct {
		vllm *VLLM
		want string
	}{
		"nothing":             {nil, ""},
		"some chunks unknown": {&VLLM{Stretches: []int{0, 2, 1}, Blank: []float64{0.5}, OutputTokens: new(0)}, ""},
		"too few chunks":      {&VLLM{Stretches: []int{0, 2}}, "2 chunks together, and the request has 3"},
		"too many chunks":     {&VLLM{Stretches: []int{3, 2}}, "5 chunks together, and the request has 3"},
		"negative stretch":    {&VLLM{Stretches: []int{4, -1}}, "a stretch of -1 chunks"},
		"overflow":            {&VLLM{Stretches: []int{math.MaxInt, 4, math.MaxInt}}, "a stretch of"},
		"negative arrival":    {&VLLM{Blank: []float64{-0.1}}, "blank"},
		"no arrival":          {&VLLM{Blank: []float64{math.NaN()}}, "blank"},
		"negative tokens":     {&VLLM{InputTokens: &minus}, "-1 tokens"},
	} {
		err := checkRequest(Request{Class: OK, FirstToken: 1, LastToken: 2, Chunks: 3, VLLM: tt.vllm})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}
