package gate

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestBreachedErrorRatioTellsEachClass(t *testing.T) {
	head := edited(5, first(1, func(r *bench.Run) {
		fails(9)(r)
		r.Failed = map[bench.Class]int{bench.HTTP5xx: 5, bench.Reset: 4}
		r.FirstErrors = map[bench.Class]string{bench.Reset: "connection reset"}
	}))
	v := Decide(Policy{Rules: []Rule{{Metric: "error.ratio", Max: ptr(0.005)}}}, one(history("chat", 5)), head)
	for _, f := range v.Findings {
		if f.Metric == "error.ratio" {
			want := `The first failure was "CUDA out of memory"; the first "reset" was "connection reset".`
			if f.Outcome != Breached || !strings.Contains(f.Next, want) {
				t.Errorf("%s: %s", f.Outcome, f.Next)
			}
			return
		}
	}
	t.Error("no finding")
}
