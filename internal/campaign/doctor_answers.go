package campaign

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
)

// answers tries a few short answers, some at a time.
func (d *doctor) answers(ctx context.Context, c *openai.Client, caps openai.Capabilities, counts counting) {
	d.Say(fmt.Sprintf("trial: %d short answers, %d at a time", tryAnswers, tryAtOnce))
	before, _ := counts.begin(ctx) // the look at the paths says what is wrong with them
	limited, cancel := context.WithTimeout(ctx, lookTrial)
	defer cancel()
	begun := time.Now()
	since := func() float64 { return time.Since(begun).Seconds() }
	answers := make([]bench.Request, tryAnswers)
	var all sync.WaitGroup
	for first := range tryAtOnce {
		all.Go(func() {
			for i := first; i < tryAnswers; i += tryAtOnce {
				answers[i] = c.Do(limited, openai.Call{
					Index: i, Prompt: openai.Prompt{Text: fmt.Sprintf("#%08x Write a few words about the sea.", uint32(begun.UnixMicro())+uint32(i))}, MaxTokens: tryTokens, Exact: caps.Exact,
				}, since)
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return
	}
	run := bench.Condense(answers, lookTrial.Seconds(), bench.SLO{})
	d.add(d.tried(answers, run))
	if run.OK == run.Sent {
		counted, _ := counts.since(ctx, before, holds(run))
		d.add(ownAccount(accountOf(answers, counted)))
	}
}

// tried judges the trial by its answers and what they come to. The middle of its times is what the client's error is held against.
func (d *doctor) tried(answers []bench.Request, run bench.Run) Check {
	ttft, e2el := run.Metrics["ttft.p50"], run.Metrics["e2el.p50"]
	d.ttft, d.e2el = faster(d.ttft, ttft), faster(d.e2el, e2el)
	c := Check{Section: "server", Name: "trial", State: Good, Figures: map[string]float64{"sent": float64(len(answers)), "ok": float64(run.OK)}}
	c.Found = fmt.Sprintf("%d of %d short answers came, %d at a time", run.OK, len(answers), tryAtOnce)
	if ttft > 0 {
		c.Found += "; TTFT p50 " + brief(ttft)
		c.Figures["ttft_p50"] = ttft
	}
	mind := func(state, why, next, format string, args ...any) {
		c.State, c.Why, c.Next = state, why, next
		c.Found += "; " + fmt.Sprintf(format, args...)
	}
	if run.OK == len(answers) {
		d.reconnects = run.Client.Reconnects
	}
	if share := run.CachedTokens; share != nil && *share > cacheShare {
		mind(Warn, "prompts that a cache serves make ttft look better than it is: such runs are invalid", "switch the server's prompt cache off, or name its reset in target.reset",
			"%s of the prompt tokens came from a cache although all prompts were new", portion(*share))
	}
	slow := func(a bench.Request) bool { return a.Class == bench.Canceled }
	if n := count(answers, slow); n > 0 {
		mind(Warn, "a run takes long on such a server, and fewer runs see less; or it hangs when it is asked several things at a time", "look at the minutes of run --plan; ask for fewer requests or tokens, or for less at a time",
			"%d were not done within %s", n, lookTrial)
	}
	wrong := func(a bench.Request) bool { return a.Class != bench.OK && !slow(a) }
	if i := slices.IndexFunc(answers, wrong); i >= 0 {
		c.Class = string(answers[i].Class)
		mind(Fail, "failed answers are in every figure, and a run with many of them is broken off (campaign.abort)", "the server's log says why",
			"the first that failed: %s (%s)", answers[i].Error, c.Class)
	}
	return c
}

// faster is the smaller of two times of which either may be unknown.
func faster(a, b float64) float64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func count(answers []bench.Request, is func(bench.Request) bool) (n int) {
	for _, a := range answers {
		if is(a) {
			n++
		}
	}
	return n
}
