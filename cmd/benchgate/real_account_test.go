//go:build real

package main

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// accounted checks what a llama-server with --metrics tells of itself on both sides: the times in its answers, the totals in
// its counters, and nothing that does not fit what the client saw.
func accounted(t *testing.T, v gate.Verdict) {
	t.Helper()
	if len(v.Server) != 2 {
		t.Errorf("%d accounts of servers, want one a side: %+v", len(v.Server), v.Server)
	}
	for _, a := range v.Server {
		if a.Source != bench.SourceTimings || a.TTFTFrom != bench.FromWork || a.Counters != "/metrics (llama.cpp)" || a.Gap == nil || *a.Gap <= 0 || a.CachedTokens == nil {
			t.Errorf("%s: %+v", a.Side, a)
		}
	}
	for _, w := range v.Warnings {
		if strings.Contains(w, "the server counted") || strings.Contains(w, "usage tells") || strings.Contains(w, "the server says") {
			t.Errorf("in doubt: %s", w)
		}
	}
}
