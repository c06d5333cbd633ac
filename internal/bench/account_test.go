package bench_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestAServersAccountIsHeldToWhatCanBe(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name string
		a    bench.ServerAccount
		want string // in the error; empty: none
	}{
		{"nothing told", bench.ServerAccount{}, ""},
		{"a gap may be negative", bench.ServerAccount{Gap: p(-0.002)}, ""},
		{"a gap is a number", bench.ServerAccount{Gap: p(math.Inf(-1))}, "gap is -Inf"},
		{"negative ttft", bench.ServerAccount{TTFT: -1}, "ttft is -1"},
		{"tokens that are no number", bench.ServerAccount{OutputTokens: p(math.NaN())}, "output_tokens is NaN"},
		{"an unknown clock", bench.ServerAccount{TTFTFrom: "noon"}, `ttft_from "noon"`},
		{"a book", bench.ServerAccount{Source: strings.Repeat("x", 201)}, "source or counters is longer"},
		{"another book", bench.ServerAccount{Doubts: map[string]string{bench.DoubtTTFT: strings.Repeat("x", 1001)}}, "a doubt is longer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := bench.CheckRun(bench.Run{Server: &tt.a})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestWhatARequestWasToldCannotBeNegative(t *testing.T) {
	record := bench.Record{Request: &bench.RequestRecord{Scenario: "chat", Order: 1, Request: bench.Request{
		Class: bench.OK, Told: &bench.Told{Prefill: -1},
	}}}
	err := bench.WriteRecord(&bytes.Buffer{}, record)
	if err == nil || !strings.Contains(err.Error(), "told: prefill is -1") {
		t.Error(err)
	}
}
