package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// near is the grain of the clock that a schedule is played on, in seconds.
const near = 2e-9

func openLoop(rate float64, n int) Pass {
	return Pass{
		Load:    config.Load{Rate: rate, Burstiness: 1, Seed: 42, Requests: n},
		Prompts: prompts("a", "b", "c"), OutputTokens: []int{8},
	}
}

func closedLoop(concurrency, n int) Pass {
	return Pass{
		Load:    config.Load{Concurrency: concurrency, Requests: n},
		Prompts: prompts("a", "b", "c"), OutputTokens: []int{8},
	}
}

func TestOpenLoopNeverWaitsForASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: always(10 * time.Hour)}
		got, duration, err := Run(t.Context(), s, openLoop(0.5, 200))
		if err != nil {
			t.Fatal(err)
		}
		at := Arrivals(42, 0.5, 1, 200)
		for i, q := range got {
			if math.Abs(q.Scheduled-at[i]) > near || math.Abs(q.Sent-at[i]) > near {
				t.Fatalf("request %d was scheduled at %v and sent at %v, want %v", i, q.Scheduled, q.Sent, at[i])
			}
		}
		if want := 400 + 36000.0; math.Abs(duration-want) > near {
			t.Errorf("duration %v s, want %v s", duration, want)
		}
		if s.most != 200 {
			t.Errorf("%d requests in flight at once, want all 200", s.most)
		}
	})
}

func TestASlowListenerDelaysNoRequest(t *testing.T) {
	for name, p := range map[string]Pass{"open": openLoop(10, 50), "closed": closedLoop(1, 50)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{takes: always(time.Millisecond)}
				heard := 0
				p.OnRequest = func(bench.Request) {
					heard++
					<-time.After(time.Hour)
				}
				got, duration, err := Run(t.Context(), s, p)
				if err != nil || heard != 50 || len(got) != 50 {
					t.Fatalf("%d requests, %d heard of, %v", len(got), heard, err)
				}
				for _, q := range got {
					if q.Sent-q.Scheduled > near {
						t.Fatalf("request %d was sent %v s late", q.Index, q.Sent-q.Scheduled)
					}
				}
				if duration > 6 {
					t.Errorf("duration %v s counts the listener", duration)
				}
			})
		})
	}
}

func TestWaitingForASlotShowsAsSentAfterScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openLoop(1, 40)
		p.Load.Burstiness, p.Load.MaxConcurrency = math.Inf(1), 2
		s := &server{takes: always(4 * time.Second)}
		got, _, err := Run(t.Context(), s, p)
		if err != nil {
			t.Fatal(err)
		}
		if s.most != 2 {
			t.Errorf("%d requests in flight at once, want 2", s.most)
		}
		for i, q := range got {
			// One request a second is due, two slots of four seconds serve half of that, first come first served.
			scheduled, sent := float64(i+1), float64(i%2+1+4*(i/2))
			if math.Abs(q.Scheduled-scheduled) > near || math.Abs(q.Sent-sent) > near {
				t.Fatalf("request %d: scheduled %v, sent %v, want %v and %v", i, q.Scheduled, q.Sent, scheduled, sent)
			}
		}
	})
}

func TestClosedLoopKeepsItsSlotsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: func(c openai.Call) time.Duration { return time.Duration(1+c.Index%3) * time.Second }}
		got, duration, err := Run(t.Context(), s, closedLoop(4, 100))
		if err != nil || len(got) != 100 || s.most != 4 {
			t.Fatalf("%d requests, %d at once, %v", len(got), s.most, err)
		}
		free := map[float64]int{0: 4} // how many slots fell free at a moment
		for _, q := range got {
			free[q.End]++
		}
		for _, q := range got {
			if free[q.Scheduled]--; free[q.Scheduled] < 0 {
				t.Fatalf("request %d is scheduled at %v, when no slot fell free", q.Index, q.Scheduled)
			}
			if q.Sent != q.Scheduled {
				t.Fatalf("request %d left its slot empty from %v to %v", q.Index, q.Scheduled, q.Sent)
			}
		}
		if duration != 51 {
			t.Errorf("duration %v s, want the 51 s of 199 s of work in 4 slots", duration)
		}
	})
}

func TestMoreSlotsThanRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: always(time.Second)}
		got, duration, err := Run(t.Context(), s, closedLoop(64, 5))
		if err != nil || len(got) != 5 || duration != 1 {
			t.Errorf("%d requests in %v s, %v", len(got), duration, err)
		}
	})
}

func TestPromptsAreTakenInOrderAndBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: always(time.Millisecond)}
		p := closedLoop(1, 5)
		p.OutputTokens, p.Exact = []int{3, 4}, true
		if _, _, err := Run(t.Context(), s, p); err != nil {
			t.Fatal(err)
		}
		ask := func(i int, text string, n int) openai.Call {
			return openai.Call{Index: i, Prompt: openai.Prompt{Text: text}, MaxTokens: n, Exact: true, Scheduled: float64(i) / 1000}
		}
		want := []openai.Call{ask(0, "a", 3), ask(1, "b", 4), ask(2, "c", 3), ask(3, "a", 4), ask(4, "b", 3)}
		if diff := cmp.Diff(want, s.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// TestEveryRequestIsThereOnceInOrder is the law of a run that nothing disturbs.
func TestEveryRequestIsThereOnceInOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(r, "requests")
		takes := rapid.SliceOfN(rapid.IntRange(0, 5000), n, n).Draw(r, "milliseconds")
		limit := rapid.IntRange(0, 5).Draw(r, "slots")
		p := openLoop(20, n)
		p.Load.MaxConcurrency = limit
		if rapid.Bool().Draw(r, "closed") {
			p = closedLoop(limit+1, n)
		}
		s := &server{takes: func(c openai.Call) time.Duration { return time.Duration(takes[c.Index]) * time.Millisecond }}
		var heard []int
		p.OnRequest = func(q bench.Request) { heard = append(heard, q.Index) }
		var got []bench.Request
		var duration float64
		var err error
		synctest.Test(t, func(t *testing.T) { got, duration, err = Run(t.Context(), s, p) })
		if err != nil || len(got) != n || len(heard) != n {
			r.Fatalf("%d requests, %d heard of, want %d: %v", len(got), len(heard), n, err)
		}
		slices.Sort(heard)
		last := 0.0
		for i, q := range got {
			if q.Index != i || heard[i] != i || q.Sent < q.Scheduled-near || q.End < q.Sent {
				r.Fatalf("at place %d stands %+v", i, q)
			}
			last = max(last, q.End)
		}
		if duration != last {
			r.Fatalf("duration %v, last end %v", duration, last)
		}
		if most := max(limit, p.Load.Concurrency); most > 0 && s.most > most {
			r.Fatalf("%d requests at once, want at most %d", s.most, most)
		}
	})
}

func TestAbortRules(t *testing.T) {
	failing := func(bad func(i int) bool) func(openai.Call) bench.Class {
		return func(c openai.Call) bench.Class {
			if bad(c.Index) {
				return bench.Overloaded
			}
			return bench.OK
		}
	}
	for _, c := range []struct {
		name  string
		abort Abort
		n     int
		bad   func(i int) bool
		ended int    // requests that Run returns
		says  string // empty: the run goes on to its end
	}{
		{"no rule", Abort{}, 50, func(int) bool { return true }, 50, ""},
		{"no failure", Abort{Errors: 0.05, InARow: 10}, 50, func(int) bool { return false }, 50, ""},
		{"in a row", Abort{InARow: 10}, 50, func(i int) bool { return i >= 7 }, 17, "10 requests failed in a row"},
		{"a success between", Abort{InARow: 10}, 50, func(i int) bool { return i%10 != 0 }, 50, ""},
		{"share", Abort{Errors: 0.05}, 160, func(i int) bool { return i%10 == 0 }, 81, "9 of 81 requests have failed, more than 5% of the 160 planned"},
		{"share not yet certain", Abort{Errors: 0.05}, 160, func(i int) bool { return i < 8 }, 160, ""},
		{"share in a short run", Abort{Errors: 0.05}, 16, func(i int) bool { return i == 0 }, 16, ""},
		{"share waits for a least number", Abort{Errors: 0.05}, 30, func(int) bool { return true }, 20, "20 of 20 requests have failed"},
		{"the last request ends nothing", Abort{InARow: 3}, 12, func(i int) bool { return i > 8 }, 12, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := closedLoop(1, c.n)
				p.Abort = c.abort
				got, _, err := Run(t.Context(), &server{takes: always(time.Second), class: failing(c.bad)}, p)
				if (err != nil) != (c.says != "") || err != nil && (!errors.Is(err, ErrAborted) || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("error %v, want one that says %q", err, c.says)
				}
				// One more may have begun before the rule was applied: it was canceled.
				got = slices.DeleteFunc(got, func(q bench.Request) bool { return q.Class == bench.Canceled })
				if len(got) != c.ended {
					t.Errorf("%d requests ended, want %d", len(got), c.ended)
				}
			})
		})
	}
}

func TestAbortSaysWhatTheServerSaid(t *testing.T) {
	rule := abortRule{Abort: Abort{InARow: 1}, planned: 2}
	err := rule.add(bench.Request{Class: bench.HTTP4xx, Error: "404: the model `x` does not exist"})
	if want := "run aborted: 1 requests failed in a row; the last: http_4xx: 404: the model `x` does not exist"; err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestInterruptKeepsWhatEndedAndCancelsTheRest(t *testing.T) {
	for name, p := range map[string]Pass{"open": openLoop(1, 100), "closed": closedLoop(3, 100)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop := errors.New("the user pressed a key")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(31*time.Second, func() { cancel(stop) })
				got, duration, err := Run(ctx, &server{takes: always(2500 * time.Millisecond)}, p)
				if !errors.Is(err, stop) || errors.Is(err, ErrAborted) {
					t.Fatalf("error %v, want %v", err, stop)
				}
				if duration != 31 {
					t.Errorf("duration %v s, want 31 s", duration)
				}
				classes := map[bench.Class]int{}
				for _, q := range got {
					classes[q.Class]++
					if q.Sent > 31 || (q.Class == bench.Canceled) != (q.Sent > 28.5) {
						t.Errorf("request %d of class %q was sent at %v s", q.Index, q.Class, q.Sent)
					}
				}
				if classes[bench.OK] == 0 || classes[bench.Canceled] == 0 || len(got) > 60 {
					t.Errorf("%d requests: %v", len(got), classes)
				}
			})
		})
	}
}

func TestInterruptFreesThoseWhoWaitForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openLoop(10, 100)
		p.Load.MaxConcurrency = 1
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		got, _, err := Run(ctx, &server{takes: always(time.Hour)}, p)
		if !errors.Is(err, context.DeadlineExceeded) || len(got) != 1 || got[0].Class != bench.Canceled {
			t.Errorf("%d requests, %v", len(got), err)
		}
	})
}

func TestInterruptAfterTheLastRequestSpoilsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := closedLoop(1, 3)
		p.OnRequest = func(q bench.Request) {
			if q.Index == 2 {
				cancel()
			}
		}
		got, _, err := Run(ctx, &server{takes: always(time.Second)}, p)
		if err != nil || len(got) != 3 {
			t.Errorf("%d requests, %v", len(got), err)
		}
	})
}

func TestAFinishedContextSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, p := range map[string]Pass{"open": openLoop(1000, 3), "closed": closedLoop(2, 3)} {
		s := &server{}
		got, _, err := Run(ctx, s, p)
		if !errors.Is(err, context.Canceled) || len(got) != 0 || len(s.calls) != 0 {
			t.Errorf("%s: %d requests, %d sent, %v", name, len(got), len(s.calls), err)
		}
	}
}

func TestPassThatCannotBePlayedIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Pass){
		"no requests":          func(p *Pass) { p.Load.Requests = 0 },
		"no prompts":           func(p *Pass) { p.Prompts = nil },
		"no output lengths":    func(p *Pass) { p.OutputTokens = nil },
		"neither loop":         func(p *Pass) { p.Load.Rate = 0 },
		"both loops":           func(p *Pass) { p.Load.Concurrency = 1 },
		"a rate without times": func(p *Pass) { p.Load.Burstiness = 0 },
		"an endless rate":      func(p *Pass) { p.Load.Rate = math.Inf(1) },
	} {
		p := openLoop(1, 3)
		spoil(&p)
		s := &server{}
		if got, _, err := Run(t.Context(), s, p); err == nil || got != nil || len(s.calls) != 0 {
			t.Errorf("%s: %d requests, %v", name, len(got), err)
		}
	}
}

// The clock of a real run: a pacer may be late, never early.
func TestPacerIsNeverEarly(t *testing.T) {
	start := time.Now()
	p := newPacer(start)
	for _, at := range []float64{0.0002, 0.003, 0.003, 0.001} {
		if !p.wait(t.Context(), at) || time.Since(start).Seconds() < at {
			t.Fatalf("at %v s when %v s were due", time.Since(start).Seconds(), at)
		}
	}
}
