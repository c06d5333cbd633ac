package gate

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// What a file, or a policy made in code, may hold: each has its outcome and its message.
func TestStrangeInput(t *testing.T) {
	far := append([]float64{}, quiet...)
	far[2] = 400
	same := []float64{0.4, 0.4, 0.4, 0.4, 0.4}
	head := func(values ...float64) []bench.Digest { return one(digest("chat", headDay, values...)) }
	day := func(values ...float64) []bench.Digest { return one(digest("chat", baseDay, values...)) }
	all := func(x float64) []bench.Digest {
		return one(runs(digest("chat", headDay, quiet...), func(_ int, r *bench.Run) { r.Metrics["ttft.p95"] = x }))
	}
	var thirty []float64
	for i := range 30 {
		thirty = append(thirty, quiet[i%5])
	}
	tomorrow := history("chat", 5)
	tomorrow.Sessions[4].Started = headDay.AddDate(0, 0, 3)
	thin := one(runs(digest("chat", headDay, quiet...), func(_ int, r *bench.Run) { r.Sent, r.OK = 71, 71 }))
	for _, test := range []struct {
		name       string
		base, head []bench.Digest
		want       Outcome
		says       string // in the reason or a warning
	}{
		{"one run", one(history("chat", 5)), head(0.4), Invalid, "1 valid run and at least 3 are needed"},
		{"two runs", one(history("chat", 5)), head(0.4, 0.41), Invalid, "2 valid runs and at least 3 are needed"},
		{"two runs at base", day(0.4, 0.41), head(quiet...), Invalid, "The baseline has 2 valid runs"},
		{"three runs", one(history("chat", 5)), head(quiet[:3]...), Pass, "only 3 runs on one side"},
		{"all equal", one(history("chat", 5)), head(same...), Pass, ""},
		{"all equal on both sides", day(same...), head(same...), Pass, "degenerate"},
		{"one side constant", day(same...), head(quiet...), Pass, "coarse"},
		{"all zero", one(history("chat", 5)), all(0), Invalid, "is 0 in every run"},
		{"minus zero", one(history("chat", 5)), all(math.Copysign(0, -1)), Invalid, "is 0 in every run"},
		{"less than nothing", one(history("chat", 5)), all(-1), Missing, "has no ttft.p95"},
		{"no number", one(history("chat", 5)), all(math.NaN()), Missing, "has no ttft.p95"},
		{"no end", one(history("chat", 5)), all(math.Inf(1)), Missing, "has no ttft.p95"},
		{"a huge outlier", one(history("chat", 5)), head(far...), Inconclusive, "far from the other runs of the candidate, and kept: the 3rd of 5 runs"},
		{"thirty runs of one day", day(thirty...), head(quiet...), Pass, "the base is a single session: how far days differ is assumed, not measured, and the interval is coarse"},
		{"a session in the candidate's future", one(tomorrow), head(quiet...), Pass, "is a clock wrong?"},
		{"few successes a run", one(history("chat", 5)), thin, Pass, "fewer than 72 successes a run leave ttft.p95 without an upper bound in each run, and a run has 71"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Decide(primary(), test.base, test.head)
			sane(t, v)
			f := v.Findings[0]
			said := strings.Join(append(append([]string{f.Why}, f.Warnings...), v.Warnings...), "\n")
			if f.Outcome != test.want || !strings.Contains(said, test.says) {
				t.Errorf("%s, want %s\nsaid: %s\nwant in it: %s", f.Outcome, test.want, said, test.says)
			}
		})
	}
}

// Student's interval believes the few runs of a noisier candidate too much; Welch's joins where the sides differ in number.
func TestNoisierCandidateWithFewerRunsGetsWelchsInterval(t *testing.T) {
	base, head := abba("chat", []int{10}, steady, steady)
	head.Sessions[0].Visits = head.Sessions[0].Visits[:5]
	for _, d := range []*bench.Digest{&base, &head} {
		*d = looks(*d)
		d.Sessions[0].Visits = []bench.Visit{{Number: 1, Started: headDay, Runs: d.Sessions[0].Runs()}}
	}
	if f := Decide(primary(), one(base), one(head)).Findings[0]; f.Change == nil || f.Base.NRuns != 10 || f.Head.NRuns != 5 {
		t.Errorf("runs that differ in number: %s %s", f.Outcome, f.Why)
	}
	noisy := digest("chat", headDay, 0.30, 0.55, 0.42, 0.36, 0.50)
	f := Decide(primary(), one(digest("chat", baseDay, append(append([]float64{}, steady...), steady...)...)), one(noisy)).Findings[0]
	if !strings.Contains(f.Method, "welch") || f.Outcome == Pass || f.Outcome == Regressed {
		t.Errorf("%s by %s: %s", f.Outcome, f.Method, f.Why)
	}
}

// Readers refuse most of this; the gate has to stand it all the same, at every look and in both stages.
func TestNoNumberBreaksACampaign(t *testing.T) {
	number := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.4, 1})
	count := rapid.OneOf(rapid.IntRange(-3, 40), rapid.Just(math.MaxInt32))
	rapid.Check(t, func(t *rapid.T) {
		reference, second := secondStage("chat", rapid.IntRange(0, 10).Draw(t, "visits"), steady, loud)
		for _, d := range []bench.Digest{reference, second} {
			runs(d, func(_ int, r *bench.Run) {
				if rapid.IntRange(0, 5).Draw(t, "sound") > 0 {
					return
				}
				good := count.Draw(t, "good")
				r.Sent, r.OK, r.Good, r.Order = count.Draw(t, "sent"), count.Draw(t, "ok"), &good, count.Draw(t, "order")
				r.Void = rapid.SampledFrom([]string{"", "hot"}).Draw(t, "void")
				r.Metrics["ttft.p95"], r.Metrics["output.rate"] = number.Draw(t, "ttft"), number.Draw(t, "rate")
			})
			d.Sessions[0].Looks = rapid.SampledFrom([][]int{nil, three, {4, 6}, {2}, {3}, {8, 6}}).Draw(t, "looks")
		}
		p := short()
		p.Confidence = rapid.SampledFrom([]float64{0, 0.01, 0.95, 1 - 1e-12}).Draw(t, "confidence")
		p.Looks = rapid.SampledFrom([][]int{nil, {}, {4}, {7}, {-2, 4}}).Draw(t, "policy")
		first := digest("chat", headDay, quiet...)
		sane(t, Decide(p, one(reference), one(second)))
		sane(t, Confirm(p, one(history("chat", 2)), one(reference), one(joined(first, second))))
	})
}
