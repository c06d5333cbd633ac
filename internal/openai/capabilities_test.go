package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTraitsNameWhatChanged(t *testing.T) {
	base := Capabilities{LimitField: MaxTokens, IgnoreEOS: "obeyed", Usage: true, KeepAlive: "kept"}
	head := base
	head.Reasoning, head.Buffered, head.Metrics = "reasoning_content", true, true
	want := map[string][2]string{
		"reasoning_field": {"none", "reasoning_content"}, "stream": {"token by token", "buffered"}, "metrics": {"none", "answers"},
	}
	got := map[string][2]string{}
	for k, v := range head.Traits() {
		if was := base.Traits()[k]; was != v {
			got[k] = [2]string{was, v}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummaryIsPlain(t *testing.T) {
	caps := Capabilities{
		LimitField: MaxTokens, Usage: true, Exact: true, Tokenize: true, Reasoning: "reasoning", Address: "127.0.0.1:8000", KeepAlive: "timeout=5",
		Facts: map[string]string{"engine": "vllm", "version": "0.33.0"}, Warnings: []string{"mind this"},
	}
	want := []string{
		"server: vllm 0.33.0 at 127.0.0.1:8000",
		"output length: max_tokens bounds it, and the server writes exactly so many tokens",
		"token counts: the server's usage",
		"stream: token by token",
		"reasoning: in reasoning",
		"cached prompt tokens: not told",
		"tokenizer: the server's /tokenize",
		"connections: timeout=5",
		"warning: mind this",
	}
	if diff := cmp.Diff(want, caps.Summary()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
