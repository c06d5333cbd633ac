package host

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestP99OfASpreadIsThatOfTheSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1e-6, 100), 1, 400).Draw(t, "seconds")
		var s spread
		for _, v := range values {
			s.add(v)
		}
		slices.Sort(values)
		want := values[int(math.Ceil(0.99*float64(len(values))))-1]
		if got := s.p99(); got < want*(1-1e-12) || got > want*1.023 {
			t.Fatalf("p99 %v, want %v", got, want)
		}
	})
}

func TestOddDurationsAreCounted(t *testing.T) {
	for _, c := range []struct{ value, want float64 }{
		{0, smallest},
		{-1, smallest},
		{1e-9, smallest},
		{1e9, smallest * math.Exp2(32-1.0/bucketsPerDouble)},
	} {
		var s spread
		s.add(c.value)
		if got := s.p99(); got != c.want {
			t.Errorf("p99 of %v alone is %v, want %v", c.value, got, c.want)
		}
	}
	if got := (&spread{}).p99(); got != 0 {
		t.Errorf("p99 of nothing is %v", got)
	}
}

func TestLongestPauseIsThatOfThisRun(t *testing.T) {
	edges := []float64{math.Inf(-1), 0, 1, 2, math.Inf(1)}
	for _, c := range []struct {
		name        string
		before, now []uint64
		want        float64
	}{
		{"none", []uint64{0, 0, 0, 0}, []uint64{0, 0, 0, 0}, 0},
		{"an old one", []uint64{0, 1, 7, 0}, []uint64{0, 1, 7, 0}, 0},
		{"a short one", []uint64{0, 1, 7, 0}, []uint64{0, 2, 7, 0}, 1},
		{"a long one", []uint64{0, 1, 7, 0}, []uint64{0, 2, 8, 0}, 2},
		{"longer than all edges", []uint64{0, 0, 0, 0}, []uint64{0, 0, 0, 1}, 2},
		{"nothing known before", nil, []uint64{0, 1, 0, 0}, 1},
	} {
		got := longest(c.before, metrics.Float64Histogram{Counts: c.now, Buckets: edges})
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAQuantileIsThatOfThisRun(t *testing.T) {
	edges := []float64{math.Inf(-1), 0, 1, 2, math.Inf(1)}
	for _, c := range []struct {
		name        string
		before, now []uint64
		p, want     float64
	}{
		{"none", []uint64{9, 9, 9, 9}, []uint64{9, 9, 9, 9}, 0.99, 0},
		{"old ones are gone", []uint64{0, 1, 50, 0}, []uint64{0, 100, 50, 0}, 0.99, 1},
		{"one of a hundred is beyond p99", []uint64{0, 0, 0, 0}, []uint64{0, 99, 1, 0}, 0.99, 1},
		{"two of a hundred are not", []uint64{0, 0, 0, 0}, []uint64{0, 98, 2, 0}, 0.99, 2},
		{"longer than all edges", nil, []uint64{0, 0, 0, 7}, 0.99, 2},
		{"shorter than all edges", nil, []uint64{7, 0, 0, 0}, 0.99, 0},
	} {
		if got := quantile(c.p, c.before, metrics.Float64Histogram{Counts: c.now, Buckets: edges}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAShareIsAShare(t *testing.T) {
	for _, c := range []struct{ part, whole, want float64 }{
		{1, 4, 0.25}, {5, 4, 1}, {-1, 4, 0}, {1, 0, 0}, {1, -1, 0}, {0, 4, 0},
	} {
		if got := share(c.part, c.whole); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.part, c.whole, got, c.want)
		}
	}
}

// On a virtual clock no timer is late, and what the process used is little against the hours that pass.
func TestAWatcherGivesItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Watch()
		<-time.After(20 * time.Second)
		runtime.GC()
		c := w.Stop()
		if c.TimerP99 != smallest {
			t.Errorf("timers overshoot by %v s", c.TimerP99)
		}
		if !(c.GCPause > 0 && c.GCPause < 10) {
			t.Errorf("longest pause %v s", c.GCPause)
		}
		if !(c.SchedP99 > 0 && c.SchedP99 < 10) {
			t.Errorf("a goroutine waits %v s, p99", c.SchedP99)
		}
		if !(c.CPU > 0 && c.CPU < 1) || !(c.HostCPU >= 0 && c.HostCPU <= 1) {
			t.Errorf("CPU shares %v and %v", c.CPU, c.HostCPU)
		}
	})
}

func TestTheHostTellsItsTime(t *testing.T) {
	if b := hostTime(); !(b.total > 0 && b.busy >= 0 && b.busy <= b.total) {
		t.Errorf("%+v", b)
	}
}
