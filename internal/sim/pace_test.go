package sim

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

func schedule(first, step time.Duration, n int) []time.Duration {
	var at []time.Duration
	for i := range n {
		at = append(at, first+time.Duration(i)*step)
	}
	return at
}

func TestAStreamKeepsItsSchedule(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want []time.Duration
	}{
		{"idle and without noise", Options{TTFT: 40 * ms, TPOT: 10 * ms}, schedule(40*ms, 10*ms, 8)},
		{"a slower build", Options{TTFT: 40 * ms, TPOT: 10 * ms, Slow: 0.3}, schedule(52*ms, 13*ms, 8)},
		{"load counts only others", Options{TTFT: 40 * ms, TPOT: 10 * ms, LoadFactor: 5}, schedule(40*ms, 10*ms, 8)},
		{"a prompt as long as TTFT is meant for", Options{TTFT: 40 * ms, TPOT: 10 * ms, PrefillTokens: 2}, schedule(40*ms, 10*ms, 8)},
		{"a prompt half as long", Options{TTFT: 40 * ms, TPOT: 10 * ms, PrefillTokens: 4}, schedule(30*ms, 10*ms, 8)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client := virtual(t, c.o)
				got := timed(t, client, "two words", 8)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("arrivals (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestEveryBusySlotSlowsAllWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := virtual(t, Options{TTFT: 40 * ms, TPOT: 10 * ms, LoadFactor: 0.5, Slots: 3})
		var together sync.WaitGroup
		for range 3 {
			together.Go(func() {
				got := timed(t, client, "prompt", 4)
				// All three hold a slot at the start of every step: half as slow again. Which of them counts its own
				// arrival first is open, so the prefill may have seen one, two or three.
				firsts := []time.Duration{40 * ms, 50 * ms, 60 * ms}
				if len(got) != 4 || !slices.Contains(firsts, got[0]) || got[1]-got[0] != 15*ms {
					t.Errorf("arrivals %v: want a first among %v and a second 15 ms later", got, firsts)
				}
			})
		}
		together.Wait()
	})
}

func TestRequestsWaitForASlotInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client := virtual(t, Options{TTFT: 40 * ms, TPOT: 10 * ms, Slots: 1})
		firsts := make([]time.Duration, 4)
		var together sync.WaitGroup
		for i := range firsts {
			together.Go(func() {
				<-time.After(time.Duration(i) * ms) // virtual: fixes the order of arrival
				if at := timed(t, client, "prompt", 3); len(at) > 0 {
					firsts[i] = at[0] + time.Duration(i)*ms
				}
			})
		}
		<-time.After(10 * ms)
		if busy, waiting := r.Server().slots.busy(), r.Server().slots.waiting(); busy != 1 || waiting != 3 {
			t.Errorf("%d busy and %d waiting, want 1 and 3", busy, waiting)
		}
		together.Wait()
		// A request of three tokens holds the slot for 60 ms.
		want := []time.Duration{40 * ms, 100 * ms, 160 * ms, 220 * ms}
		if diff := cmp.Diff(want, firsts); diff != "" {
			t.Errorf("first tokens (-want +got):\n%s", diff)
		}
	})
}

func TestAClosedLoopNeverMeetsItsOwnShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := virtual(t, Options{TTFT: 40 * ms, TPOT: 10 * ms, Slots: 2, LoadFactor: 1})
		for range 50 {
			if got := timed(t, client, "prompt", 2); len(got) != 2 || got[0] != 40*ms {
				t.Fatalf("arrivals %v: a request after the end of another must find an idle server", got)
			}
		}
	})
}

func TestDemoRunTakesAboutASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := virtual(t, Defaults())
		start := time.Now()
		var together sync.WaitGroup
		var mu sync.Mutex
		var first time.Duration
		for worker := range 8 {
			together.Go(func() {
				for i := range 9 {
					at := timed(t, client, fmt.Sprintf("#00c0ffee %d %d%s", worker, i, longer), 8)
					mu.Lock()
					first += at[0] / 72
					mu.Unlock()
				}
			})
		}
		together.Wait()
		if took := time.Since(start); took < 800*ms || took > 1200*ms {
			t.Errorf("72 requests took %v of virtual time, want about a second", took)
		}
		if first < 36*ms || first > 44*ms {
			t.Errorf("mean TTFT %v, want about 40 ms", first)
		}
	})
}

// longer brings a prompt of three words to 32.
var longer = func() (s string) {
	for range 29 {
		s += " word"
	}
	return s
}()

func TestOneRunIsOneDraw(t *testing.T) {
	o := Options{TTFT: time.Second, TPOT: time.Second, RunSD: 0.03, Seed: 7}
	at := func(text string) pace { return o.pace(promptOf(idsOf(text))) }
	if a, b := at("#00000001 one two"), at("#00000001 three"); a != b {
		t.Errorf("one salt, two draws: %v and %v", a, b)
	}
	if a, b := at("plain words"), at("other words"); a != b {
		t.Errorf("no salt, two draws: %v and %v", a, b)
	}
	if a, b := at("#00000001 one"), at("#00000002 one"); a == b {
		t.Errorf("two salts, one draw: %v", a)
	}
	if a, b := at("#0000000g one"), at("plain words"); a != b {
		t.Errorf("a word that only resembles a salt drew for itself: %v and %v", a, b)
	}
	chat, text := o.pace(chatPrompt([]string{"be brief", "#00000001 one"})), at("#00000001 one")
	if chat != text {
		t.Errorf("a salt behind a system message drew %v, the same salt alone %v", chat, text)
	}
	if ids := o.pace(promptOf(idsOf("#00000001 one"))); ids != text {
		t.Errorf("a prompt of token ids drew %v, its text %v", ids, text)
	}
}

// The spread of many draws against the normal distribution: mean, standard deviation, and the Kolmogorov-Smirnov
// distance at the 0.1 % level, 1.95/√n (Smirnov 1948).
func TestDrawsAreNormal(t *testing.T) {
	const n = 20000
	draws := make([]float64, n)
	sum, squares := 0.0, 0.0
	for i := range draws {
		x := normal(1, "run", uint64(i))
		draws[i] = x
		sum, squares = sum+x, squares+x*x
	}
	if mean := sum / n; math.Abs(mean) > 4/math.Sqrt(n) {
		t.Errorf("mean %v, want 0", mean)
	}
	if sd := math.Sqrt(squares / n); math.Abs(sd-1) > 4/math.Sqrt(2*n) {
		t.Errorf("standard deviation %v, want 1", sd)
	}
	slices.Sort(draws)
	distance := 0.0
	for i, x := range draws {
		below := 0.5 * math.Erfc(-x/math.Sqrt2)
		distance = max(distance, math.Abs(below-float64(i)/n), math.Abs(below-float64(i+1)/n))
	}
	if limit := 1.95 / math.Sqrt(n); distance > limit {
		t.Errorf("Kolmogorov-Smirnov distance %v, want below %v", distance, limit)
	}
}

func TestTimesScaleWithTheBuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			TTFT: time.Second, TPOT: time.Second, Seed: rapid.Uint64().Draw(t, "seed"),
			RunSD: rapid.Float64Range(0, 0.3).Draw(t, "run"), RequestSD: rapid.Float64Range(0, 0.3).Draw(t, "request"),
		}
		slow := o
		slow.Slow = rapid.Float64Range(-0.5, 2).Draw(t, "slow")
		p := promptOf(idsOf(rapid.String().Draw(t, "prompt")))
		base, head := o.pace(p), slow.pace(p)
		for _, x := range []struct{ base, head time.Duration }{{base.prefill, head.prefill}, {base.token, head.token}} {
			if want := float64(x.base) * (1 + slow.Slow); math.Abs(float64(x.head)-want) > 4 {
				t.Fatalf("%v became %v, want %v", x.base, x.head, time.Duration(want))
			}
		}
	})
}
