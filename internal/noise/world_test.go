package noise

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// world is a simulated server and its load. The prompts and arrivals are the same in every run; what a request takes is
// its prompt's time, times the run's, times a request's own.
type world struct {
	runs, requests       int
	prompt, run, request float64 // log-sd
	rate                 float64 // requests per second; 0: no queue, every request by itself
	slots                int
	hidden               bool // the server does not tell its slots
	seed                 uint64
}

// service is the mean time that an answer takes once it is worked on, in seconds.
const service = 0.5

// measure plays the world and condenses its runs.
func (w world) measure(edit func(run int, qs []bench.Request)) Scenario {
	r := rand.New(rand.NewPCG(w.seed, 1))
	prompts, at := make([]float64, w.requests), make([]float64, w.requests)
	clock := 0.0
	for i := range prompts {
		prompts[i] = w.prompt * r.NormFloat64()
		if w.rate > 0 {
			clock += r.ExpFloat64() / w.rate
		}
		at[i] = clock
	}
	limit := 0.12
	s := Scenario{
		Digest:   bench.Digest{Scenario: "chat", SLO: bench.SLO{TTFT: &limit}, Sessions: []bench.Session{{ID: "s", Visits: []bench.Visit{{Number: 1}}}}},
		Requests: map[int][]bench.Request{},
		Load:     Load{Rate: w.rate, Slots: w.slots},
	}
	if w.hidden {
		s.Load.Slots = 0
	}
	for run := range w.runs {
		qs := w.play(r, prompts, at)
		if edit != nil {
			edit(run, qs)
		}
		end := 0.0
		for _, q := range qs {
			end = math.Max(end, q.End)
		}
		b := bench.Condense(qs, end, s.Digest.SLO)
		b.Order, b.Started = run+1, time.Date(2026, 9, 1, 0, run, 0, 0, time.UTC)
		s.Digest.Sessions[0].Visits[0].Runs = append(s.Digest.Sessions[0].Visits[0].Runs, b)
		s.Requests[b.Order] = qs
	}
	return s
}

// play is one run. With a rate, requests wait for one of the slots, first come first served; TTFT is the wait and a fifth
// of the work.
func (w world) play(r *rand.Rand, prompts, at []float64) []bench.Request {
	own := w.run * r.NormFloat64()
	free := &times{}
	for range max(1, w.slots) {
		heap.Push(free, 0.0)
	}
	qs := make([]bench.Request, len(prompts))
	for i := range qs {
		work := service * math.Exp(prompts[i]+own+w.request*r.NormFloat64())
		start := at[i]
		if w.rate > 0 {
			start = math.Max(start, heap.Pop(free).(float64))
			heap.Push(free, start+work)
		}
		sent := at[i] + 1e-6
		qs[i] = bench.Request{
			Index: i, Scheduled: at[i], Sent: sent, FirstToken: start + 1e-6 + work/5, FirstAnswer: start + 1e-6 + work/5,
			LastToken: start + 1e-6 + work, End: start + 1e-6 + work, OutputTokens: 9, InputTokens: 9, Class: bench.OK,
		}
	}
	return qs
}

// times are when slots fall free, the next first.
type times []float64

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(float64)) }
func (t *times) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t = old[:len(old)-1]
	return x
}

var usual = []string{"ttft.p50", "ttft.p95", "tpot.mean", "e2el.p95", "output.rate", "goodput.ratio"}
