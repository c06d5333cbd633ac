package gate

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// campaigns are the digests of testdata/interleaved: of three scenarios one is answered at the first look, one at the last,
// and one was stopped between looks. Two runs a visit, one visit void.
func campaigns() (reference, candidate []bench.Digest) {
	random := rand.New(rand.NewPCG(8, 10))
	noisy := func(n int, level, sd float64) []float64 {
		var out []float64
		for range n {
			out = append(out, level*math.Exp(sd*random.NormFloat64()))
		}
		return out
	}
	for _, s := range []struct {
		name   string
		visits int
		sd, by float64
	}{{"batch", 10, 0.13, 1.3}, {"chat", 6, 0.04, 1}, {"long-context", 9, 0.3, 1.15}} {
		b, h := abba(s.name, three, noisy(s.visits, 0.4, s.sd), noisy(s.visits, 0.4*s.by, s.sd))
		for _, d := range []bench.Digest{b, h} {
			runs(d, func(_ int, r *bench.Run) { r.Order = 2*r.Order - 1 })
			for i := range d.Sessions[0].Visits {
				v := &d.Sessions[0].Visits[i]
				again := run(v.Runs[0].Order+1, v.Runs[0].Metrics["ttft.p95"]*math.Exp(0.02*random.NormFloat64()))
				v.Runs = append(v.Runs, again)
			}
		}
		if s.name == "batch" {
			h.Sessions[0].Visits[3].Runs[0].Void = "lag p99 31 ms, limit 20 ms"
		}
		reference, candidate = append(reference, b), append(candidate, h)
	}
	return reference, candidate
}

func TestVerdictOfACommittedCampaign(t *testing.T) {
	const folder = "testdata/interleaved"
	if *update {
		reference, candidate := campaigns()
		for side, ds := range map[string][]bench.Digest{"reference": reference, "candidate": candidate} {
			for _, d := range ds {
				var b bytes.Buffer
				if err := bench.WriteDigest(&b, d); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Join(folder, side), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, side, d.Scenario+".json"), b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	read := func(side string) []bench.Digest {
		names, err := filepath.Glob(filepath.Join(folder, side, "*.json"))
		if err != nil || len(names) != 3 {
			t.Fatalf("%d digests of the %s: %v", len(names), side, err)
		}
		var out []bench.Digest
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			d, err := bench.ReadDigest(bytes.NewReader(data), name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, d)
		}
		return out
	}
	p := primary(
		Rule{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)},
		Rule{Metric: "tpot.mean", Tolerance: ptr(0.05)},
		Rule{Metric: "error.ratio", Max: ptr(0.005)},
	)
	v := Decide(p, read("reference"), read("candidate"))
	sane(t, v)
	golden(t, folder+"/verdict.json", v)
}
