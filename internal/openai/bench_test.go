package openai

import (
	"context"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// BenchmarkDo is a whole request over loopback, server in the same process: the events are what is counted.
func BenchmarkDo(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(map[int]string{10: "10 tokens", 1000: "1000 tokens"}[n], func(b *testing.B) {
			s := &streaming{}
			s.set(append(pieces(stream(n), 4096), []byte(finish+done))...)
			c := client(b, serve(b, s))
			call := Call{Prompt: Prompt{Text: "hello"}, MaxTokens: n}
			b.ReportAllocs()
			for b.Loop() {
				if r := c.Do(context.Background(), call, clock()); r.Class != bench.OK || r.Chunks != n {
					b.Fatalf("%s %d: %s", r.Class, r.Chunks, r.Error)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func TestTokensCostNoAllocations(t *testing.T) {
	allocations := func(n int) float64 {
		a := &answer{held: share{room: &room{most: mostHeld}}, call: Call{MaxTokens: n}, silence: idleTimeout(1e9), lastSilence: idleTimeout(1e9), since: clock()}
		a.watch = newWatch(context.Background(), a.since, 1e9)
		defer a.watch.stop()
		a.req.Gaps = make([]float64, 0, 1<<16)
		cut := pieces(stream(n), 1000)
		return testing.AllocsPerRun(10, func() {
			a.req.Chunks, a.req.Gaps = 0, a.req.Gaps[:0]
			for _, p := range cut {
				a.take(p)
			}
		})
	}
	few, many := allocations(100), allocations(500)
	if many > few+10 {
		t.Errorf("%v allocations for 100 tokens, %v for 500", few, many)
	}
}
