package gate

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// decided is what the other implementation said.
type decided struct {
	Outcome    Outcome
	Ratio      float64
	Low, High  float64
	P          float64
	PPerm      *float64 `json:"p_perm"`
	Degenerate bool
}

type vector struct {
	Name        string
	Base, Head  []*float64 // nil: the run lacks the metric
	Same, Other decided
	Sides       []int
	Values      []float64
	Want        decided
}

func vectors(t *testing.T) (v struct{ Two, Interleaved, Degenerate []vector }) {
	t.Helper()
	data, err := os.ReadFile("testdata/decisions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Two) != 8 || len(v.Interleaved) != 2 || len(v.Degenerate) != 10 {
		t.Fatalf("testdata/decisions.json has %d, %d and %d cases", len(v.Two), len(v.Interleaved), len(v.Degenerate))
	}
	return v
}

// fill makes a digest of values; where there is none, or none that can be, the run lacks the metric.
func fill(d bench.Digest, values []*float64) bench.Digest {
	d.Sessions[0].Visits[0].Runs = nil
	for i, v := range values {
		r := run(i+1, 1)
		if v == nil {
			delete(r.Metrics, "ttft.p95")
		} else {
			r.Metrics["ttft.p95"] = *v
		}
		d.Sessions[0].Visits[0].Runs = append(d.Sessions[0].Visits[0].Runs, r)
	}
	return d
}

func TestAgreesWithAnotherImplementationAcrossSessions(t *testing.T) {
	for _, v := range vectors(t).Two {
		t.Run(v.Name, func(t *testing.T) {
			got := Decide(primary(), one(fill(digest("chat", baseDay), v.Base)), one(fill(digest("chat", headDay), v.Head)))
			agree(t, v.Other, got.Findings[0])
		})
	}
}

func TestAgreesWithAnotherImplementationInterleaved(t *testing.T) {
	for _, v := range vectors(t).Interleaved {
		t.Run(v.Name, func(t *testing.T) {
			base, head := interleaved("chat", v.Sides, v.Values)
			got := Decide(primary(), one(base), one(head))
			agree(t, v.Want, got.Findings[0])
		})
	}
}

// The design of one session without a trend has no way through a file, whose runs always have an order; the decision is
// taken from the statistics on.
func TestAgreesWithAnotherImplementationInOneSession(t *testing.T) {
	all := vectors(t)
	for _, v := range append(all.Two, all.Degenerate...) {
		t.Run(v.Name, func(t *testing.T) {
			base, head := fill(digest("chat", headDay), v.Base), fill(digest("chat", headDay), v.Head)
			x := match(primary().complete(), one(base), one(head))[0]
			q := newQuestion(primary().complete(), x, primary().Rules[0])
			q.prepare()
			x.same = true
			if !q.settled() {
				q.comparison = &comparison{base: sampleOf(q.measured(q.base), q.metric), head: sampleOf(q.measured(q.head), q.metric), confidence: 0.95}
				q.comparison.base.Order, q.comparison.head.Order = nil, nil
				q.resample(fewestResamples)
				if q.comparison.err == nil {
					newFamilies(q.policy.alpha()).primaries.adjust([]*question{q})
				}
				q.judge()
			}
			agree(t, v.Same, q.finding)
		})
	}
}

// agree compares a finding with the other implementation: what is exact exactly, what the bootstrap sets to its own error.
func agree(t *testing.T, want decided, got Finding) {
	t.Helper()
	if got.Outcome != want.Outcome {
		t.Fatalf("outcome %s, want %s: %s", got.Outcome, want.Outcome, got.Why)
	}
	if want.Outcome == Invalid {
		return
	}
	close := func(name string, got, want, tolerance float64) {
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s is %.10g, want %.10g ± %g", name, got, want, tolerance)
		}
	}
	c := got.Change
	close("ratio", c.Ratio, want.Ratio, 1e-9)
	close("low", c.Low, want.Low, 0.02*want.Low)
	close("high", c.High, want.High, 0.02*want.High)
	close("p", c.P, want.P, 0.005+0.03*want.P)
	if (c.PPerm == nil) != (want.PPerm == nil) {
		t.Errorf("permutation p %v, want %v", c.PPerm, want.PPerm)
	} else if c.PPerm != nil {
		close("permutation p", *c.PPerm, *want.PPerm, 1e-9)
	}
	if want.Degenerate != hasWarning(got, "degenerate") {
		t.Errorf("degenerate %v, but warnings are %q", want.Degenerate, got.Warnings)
	}
}
