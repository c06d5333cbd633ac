// Make writes the verdicts of the folder above: the gate's own answers to made-up digests, and two that no gate would give
// (drifted, hostile). Run it in the repository's root: go run ./internal/report/testdata/make
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

func main() {
	p := rules()
	write("pass", decide(p, one(base(1)), one(head(2, 1))))
	write("improved", decide(p, one(base(1)), one(head(3, 0.7))))
	write("regressed", decide(p, one(base(1)), one(head(4, 1.31))))
	write("inconclusive", inconclusive(p))
	write("invalid", invalid(p))
	write("buffered", buffered(p))
	write("network", network(p))
	write("incomparable", incomparable(p))
	write("missing", missing(p))
	write("new", decide(p, nil, one(head(5, 1))))
	write("waived", waived(p))
	write("observed", observed(p))
	write("breached", breached(p))
	write("drifted", drifted(p))
	write("many", many(p))
	write("simulated", simulated())
	write("interleaved", interleaved(p))
	write("confirm", confirm(p))
	write("hostile", hostile(decide(p, one(base(1)), one(head(4, 1.31)))))
}

func write(name string, v gate.Verdict) {
	f, err := os.Create(filepath.Join("internal/report/testdata", name+".json"))
	if err == nil {
		err = gate.WriteVerdict(f, v)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(name, v.Outcome)
}
func rules() gate.Policy {
	p := gate.Defaults()
	p.Planned = false
	at := func(line int) gate.Place { return gate.Place{File: "benchgate.yaml", Line: line} }
	p.Rules = []gate.Rule{
		{Metric: "ttft.p95", Primary: true, Tolerance: ptr(0.05), RuleOut: ptr(0.25), At: at(23)},
		{Metric: "tpot.mean", Tolerance: ptr(0.05), At: at(32)},
		{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25), At: at(33)},
		{Metric: "goodput.ratio", Min: ptr(0.95), At: at(34)},
		{Metric: "error.ratio", Max: ptr(0.005), At: at(35)},
	}
	return p
}

func decide(p gate.Policy, b, h []bench.Digest) gate.Verdict {
	v := gate.Decide(p, b, h)
	if v.Baseline != nil {
		v.Baseline.Ref = "ref:4f2a9c1d03b7e6a5c8f1e2d4b6a798081a2b3c4d"
	}
	return v
}
