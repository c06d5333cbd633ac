package host

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"syscall"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Watcher keeps account of this process and its machine while a run is measured.
type Watcher struct {
	stop    chan struct{}
	done    sync.WaitGroup
	started time.Time
	cpu     time.Duration
	busy    busy
	pauses  []uint64
	waits   []uint64
	stopped float64
	timer   spread
}

// tick is the length of the timer whose overshoot is watched; between two of them the watcher rests, or it would itself be
// a load: waking a thousand times a second took three hundredths of a core on a virtual machine.
const (
	tick = time.Millisecond
	rest = 9 * time.Millisecond
)

// The runtime's own accounts: how long the garbage collector stopped everything, and how long goroutines that could run
// waited for a processor.
const (
	pauses = "/sched/pauses/total/gc:seconds"
	waits  = "/sched/latencies:seconds"
)

// Watch begins the account. Stop must be called.
func Watch() *Watcher {
	w := &Watcher{stop: make(chan struct{}), started: time.Now(), cpu: processTime(), busy: hostTime(), stopped: throttledTime()}
	w.pauses, w.waits = collect(pauses).Counts, collect(waits).Counts
	w.done.Go(w.watchTimer)
	return w
}

// watchTimer measures by how much a short timer comes late: a busy machine, a throttled container and a starved
// scheduler all show in it.
func (w *Watcher) watchTimer() {
	for {
		select {
		case <-w.stop:
			return
		case <-time.After(rest):
		}
		before := time.Now()
		time.Sleep(tick)
		w.timer.add((time.Since(before) - tick).Seconds())
	}
}

// Stop ends the account and returns it. Only the fields that the host knows are set: TimerP99, SchedP99, GCPause, CPU,
// HostCPU and Throttled. A share that the system does not tell is 0.
func (w *Watcher) Stop() bench.Client {
	close(w.stop)
	w.done.Wait()
	c := bench.Client{
		TimerP99: w.timer.p99(), SchedP99: quantile(0.99, w.waits, collect(waits)), GCPause: longest(w.pauses, collect(pauses)),
	}
	if elapsed := time.Since(w.started).Seconds() * float64(runtime.NumCPU()); elapsed > 0 {
		c.CPU = share((processTime() - w.cpu).Seconds(), elapsed)
		c.Throttled = share(throttledTime()-w.stopped, elapsed)
	}
	now := hostTime()
	c.HostCPU = share(now.busy-w.busy.busy, now.total-w.busy.total)
	return c
}

// share is a part of a whole, held within 0 to 1: the counters of a machine are not read at one instant.
func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(1, max(0, part/whole))
}

// processTime is the CPU time of this process, not of its children.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func collect(name string) metrics.Float64Histogram {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return metrics.Float64Histogram{}
	}
	return *s[0].Value.Float64Histogram()
}

// longest is the upper edge of the highest bucket that has grown, in seconds; 0 when none has.
func longest(before []uint64, now metrics.Float64Histogram) float64 {
	for i := len(now.Counts) - 1; i >= 0; i-- {
		if i < len(before) && now.Counts[i] == before[i] || now.Counts[i] == 0 {
			continue
		}
		return edge(now, i)
	}
	return 0
}

// edge is the upper edge of a bucket, in seconds; the lower one of a bucket without end.
func edge(h metrics.Float64Histogram, i int) float64 {
	if e := h.Buckets[i+1]; !math.IsInf(e, 1) {
		return e
	}
	return h.Buckets[i]
}

// quantile is the smallest upper edge that at least p of what was counted since before does not exceed, in seconds; 0 when
// nothing was.
func quantile(p float64, before []uint64, now metrics.Float64Histogram) float64 {
	grown, n := make([]uint64, len(now.Counts)), uint64(0)
	for i, c := range now.Counts {
		if i < len(before) {
			c -= before[i]
		}
		grown[i] = c
		n += c
	}
	need, seen := uint64(math.Ceil(p*float64(n))), uint64(0)
	for i, c := range grown {
		seen += c
		if n > 0 && seen >= need {
			return max(0, edge(now, i))
		}
	}
	return 0
}
