package bench

import (
	"errors"
	"testing"
)

// TestStatisticOfValuesIsTheRunsMetric condenses a run and computes each of its metrics from single requests.
func TestStatisticOfValuesIsTheRunsMetric(t *testing.T) {
	var qs []Request
	for i := range 40 {
		at := float64(i)
		q := Request{Index: i, Scheduled: at, Sent: at + 0.001, FirstToken: at + 0.1 + 0.01*float64(i%7), FirstAnswer: at + 0.2, LastToken: at + 1.5 + 0.02*float64(i%5), OutputTokens: 9, Gaps: []float64{0.1}, Class: OK}
		if i == 3 {
			q = Request{Index: i, Class: Reset}
		}
		qs = append(qs, q)
	}
	run := Condense(qs, 42, SLO{})
	seen := 0
	for _, m := range Metrics() {
		var values []float64
		for _, q := range qs {
			if v, ok := m.Value(q); ok {
				values = append(values, v)
			}
		}
		got, err := m.Statistic(values)
		if m.Unit != Seconds || m.value == nil {
			if !errors.Is(err, errNoStatistic) || len(values) > 0 {
				t.Errorf("%s: %v of %v, %v; want no statistic", m.Name, got, values, err)
			}
			continue
		}
		seen++
		if want, ok := run.Metrics[m.Name]; err != nil || !ok || got != want {
			t.Errorf("%s: %v (%v), want %v", m.Name, got, err, want)
		}
	}
	if seen < 40 {
		t.Errorf("saw only %d metrics", seen)
	}
}
