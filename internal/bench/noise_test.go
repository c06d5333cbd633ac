package bench

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func noisy(edit func(*Noise)) Digest {
	n := &Noise{
		Measured: time.Date(2026, 9, 1, 3, 0, 0, 0, time.UTC), Design: "committed", Runs: 12,
		Metrics: map[string]MetricNoise{"ttft.p95": {SD: 0.09, Workload: 0.05, Order: -0.02, First: 0.3}},
	}
	edit(n)
	return Digest{Schema: DigestSchema, Runner: "lab", Scenario: "chat", MustMatch: map[string]string{}, Noise: n, Sessions: []Session{}}
}

func TestNoiseIsWrittenAndReadBack(t *testing.T) {
	want := noisy(func(*Noise) {})
	var b bytes.Buffer
	if err := WriteDigest(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadDigest(&b, "chat.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNoiseThatCannotBeIsRefused(t *testing.T) {
	for want, edit := range map[string]func(*Noise){
		"sd is -0.1: negative":            func(n *Noise) { n.Metrics["ttft.p95"] = MetricNoise{SD: -0.1} },
		"workload_sd is NaN":              func(n *Noise) { n.Metrics["ttft.p95"] = MetricNoise{Workload: math.NaN()} },
		"order is +Inf":                   func(n *Noise) { n.Metrics["ttft.p95"] = MetricNoise{Order: math.Inf(-1)} },
		"-1 runs are out of range":        func(n *Noise) { n.Runs = -1 },
		"metric name \"../x\": want what": func(n *Noise) { n.Metrics["../x"] = MetricNoise{} },
	} {
		err := WriteDigest(&bytes.Buffer{}, noisy(edit))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
