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
	timer   spread
}

// tick is the length of the timer whose overshoot is watched; between two of them the watcher rests, or it would itself be
// a load: waking a thousand times a second took three hundredths of a core on a virtual machine.
const (
	tick = time.Millisecond
	rest = 9 * time.Millisecond
)

// Watch begins the account. Stop must be called.
func Watch() *Watcher {
	w := &Watcher{stop: make(chan struct{}), started: time.Now(), cpu: processTime(), busy: hostTime()}
	w.pauses = collect().Counts
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

// Stop ends the account and returns it. Only the fields that the host knows are set: TimerP99, GCPause, CPU and HostCPU.
// A share that the system does not tell is 0.
func (w *Watcher) Stop() bench.Client {
	close(w.stop)
	w.done.Wait()
	c := bench.Client{TimerP99: w.timer.p99(), GCPause: longest(w.pauses, collect())}
	if elapsed := time.Since(w.started).Seconds() * float64(runtime.NumCPU()); elapsed > 0 {
		c.CPU = share((processTime() - w.cpu).Seconds(), elapsed)
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

func collect() metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
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
		if edge := now.Buckets[i+1]; !math.IsInf(edge, 1) {
			return edge
		}
		return now.Buckets[i]
	}
	return 0
}
