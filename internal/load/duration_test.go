package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

func lasting(seconds float64, concurrency, requests int) Pass {
	p := closedLoop(concurrency, requests)
	p.Load.MinDuration = seconds
	return p
}

func TestClosedLoopGoesOnUntilItsTimeIsOver(t *testing.T) {
	for _, c := range []struct {
		name              string
		takes             time.Duration
		seconds           float64
		requests, want    int
		duration, lastOne float64
	}{
		{"a fast server is asked more", time.Second, 10, 6, 20, 10, 9},
		{"a slow server is asked the least", 10 * time.Second, 10, 6, 6, 30, 20},
		{"those in flight end in peace", 3 * time.Second, 10, 6, 8, 12, 9},
		{"a time shorter than the requests changes nothing", time.Second, 0.5, 6, 6, 3, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, duration, err := Run(t.Context(), &server{takes: always(c.takes)}, lasting(c.seconds, 2, c.requests))
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != c.want || duration != c.duration || got[len(got)-1].Sent != c.lastOne {
					t.Errorf("%d requests in %v s, the last sent at %v s; want %d in %v s, the last at %v s",
						len(got), duration, got[len(got)-1].Sent, c.want, c.duration, c.lastOne)
				}
				for i, q := range got {
					if q.Index != i {
						t.Fatalf("request %d has the index %d", i, q.Index)
					}
				}
			})
		})
	}
}

func TestPromptsBeyondTheListAreMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: always(time.Second)}
		p := lasting(5, 1, 2)
		p.More = func(i int) openai.Prompt { return openai.Prompt{Text: fmt.Sprint("more ", i)} }
		if _, _, err := Run(t.Context(), s, p); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range s.calls {
			got = append(got, c.Prompt.Text)
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "more 3", "more 4"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestALastingRunIsAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: always(time.Second), class: func(c openai.Call) bench.Class {
			if c.Index >= 50 {
				return bench.Refused
			}
			return bench.OK
		}}
		p := lasting(3600, 1, 2)
		p.Abort = Abort{Errors: 0.1, InARow: 1000}
		got, _, err := Run(t.Context(), s, p)
		if !errors.Is(err, ErrAborted) || len(got) < 56 || len(got) > 57 {
			t.Errorf("%d requests, error %v: want an end when 6 of 56 have failed", len(got), err)
		}
	})
}

func TestALastingRunThatIsInterruptedIsNotWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		got, _, err := Run(ctx, &server{takes: always(time.Second)}, lasting(60, 1, 2))
		if !errors.Is(err, context.DeadlineExceeded) || len(got) < 4 {
			t.Errorf("%d requests, error %v", len(got), err)
		}
	})
}

func TestATimeOfAnOpenLoopIsRefused(t *testing.T) {
	p := openLoop(1, 2)
	p.Load.MinDuration = 3
	if _, _, err := Run(t.Context(), &server{}, p); err == nil || !strings.Contains(err.Error(), "for a closed loop") {
		t.Errorf("error %v", err)
	}
}

func lastingScenario(seconds float64, requests int) config.Scenario {
	s := randomScenario(64, 0.2, requests)
	s.Load = config.Load{Concurrency: 4, Seed: 42, Requests: requests, MinDuration: seconds}
	return s
}

func TestALastingWorkloadContinuesItsDataset(t *testing.T) {
	short, long := lastingScenario(0, 20), lastingScenario(60, 20)
	w := made(t, long, byWords, openai.Chat)
	if diff := cmp.Diff(made(t, short, byWords, openai.Chat).prompts, w.prompts[:20]); diff != "" {
		t.Errorf("first prompts (-without a time +with one):\n%s", diff)
	}
	if len(w.prompts) != 160 {
		t.Errorf("%d prompts, want 160", len(w.prompts))
	}
	seen := map[string]int{}
	salted := w.Salted("#12345678")
	for i := range 5 * len(salted) {
		p := w.More("#12345678", i)
		if i < len(salted) {
			p = salted[i]
		}
		if before, twice := seen[p.Text]; twice {
			t.Fatalf("prompts %d and %d are the same: %q", before, i, p.Text)
		}
		seen[p.Text] = i
	}
}

func TestRepeatsOfALastingFileAreToldApart(t *testing.T) {
	s := lastingScenario(60, 2)
	s.Dataset = config.Dataset{Kind: "jsonl", Path: "two.jsonl"}
	w := made(t, s, noCalibration, openai.Chat) // two lines, 16 prompts
	var got []string
	for i := 14; i < 16; i++ {
		got = append(got, w.Salted("#12345678")[i].Text)
	}
	for i := 16; i < 19; i++ {
		got = append(got, w.More("#12345678", i).Text)
	}
	want := []string{"#12345678 7 one", "#12345678 7 two", "#12345678 8 one", "#12345678 8 two", "#12345678 9 one"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Load.ReusePrompts = true
	if p := made(t, s, noCalibration, openai.Chat).More("#12345678", 17); p.Text != "two" {
		t.Errorf("reused: %q", p.Text)
	}
}

func TestPromptsAheadAreBounded(t *testing.T) {
	s := lastingScenario(60, 100)
	s.Dataset.InputTokens = 1 << 16
	if n := ahead(s); n != 128 {
		t.Errorf("%d prompts of 65536 tokens, want 128", n)
	}
	s.Load.Requests = 400_000
	s.Dataset = config.Dataset{Kind: "jsonl"}
	if n := ahead(s); n != MostRequests {
		t.Errorf("%d prompts, want %d", n, MostRequests)
	}
}

func TestTheTimeOfARunIsPartOfTheHash(t *testing.T) {
	seen := map[string]bool{}
	for _, seconds := range []float64{0, 60, 61} {
		seen[made(t, lastingScenario(seconds, 20), byWords, openai.Chat).Hash()] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d hashes of three workloads", len(seen))
	}
}
