package campaign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/server"
)

// TestFingerprintHoldsWhatPreflightFound: what changes the meaning of numbers must match, the rest is shown as a diff.
func TestFingerprintHoldsWhatPreflightFound(t *testing.T) {
	usual := openai.Capabilities{
		LimitField: openai.MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", KeepAlive: "kept",
		Facts: map[string]string{"engine": "vllm"},
	}
	odd := usual
	odd.Usage, odd.Exact, odd.IgnoreEOS, odd.Reasoning, odd.Buffered = false, false, "ignored", "reasoning_content", true
	facts := func(caps openai.Capabilities) (must, under map[string]string) {
		v := &visit{p: &protocol{}, caps: caps, server: &server.Server{}}
		must, under = v.mustMatch(), v.underTest()
		for _, k := range []string{bench.KeyModel, "api", "sampling", bench.KeyDefinitions, bench.KeyTool, bench.KeyTopology} {
			delete(must, k)
		}
		return must, under
	}
	must, under := facts(usual)
	if diff := cmp.Diff(map[string]string{bench.KeyOutput: "exact"}, must); diff != "" {
		t.Errorf("the usual server must match (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{
		"engine": "vllm", "limit_field": "max_tokens", "ignore_eos": "obeyed", "usage": "told", "reasoning_field": "none",
		"stream": "token by token", "cached_tokens": "not told", "keep_alive": "kept", "tokenize": "none", "metrics": "none",
	}, under); diff != "" {
		t.Errorf("the usual server under test (-want +got):\n%s", diff)
	}
	must, under = facts(odd)
	if diff := cmp.Diff(map[string]string{bench.KeyOutput: "ceiling", bench.KeyCounts: "chunks"}, must); diff != "" {
		t.Errorf("the odd server must match (-want +got):\n%s", diff)
	}
	for k, want := range map[string]string{"ignore_eos": "ignored", "usage": "none", "reasoning_field": "reasoning_content", "stream": "buffered"} {
		if under[k] != want {
			t.Errorf("the odd server under test: %s is %q, want %q", k, under[k], want)
		}
	}
}
