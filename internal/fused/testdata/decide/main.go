// Command decide writes the verdict of each folder that it is given, DIR/base.json against DIR/head.json, into OUT/DIR.json.
// A folder with a reference.json besides is an interleaved campaign, with all three a confirmed one.
//
//	decide OUT DIR…
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

func main() {
	for _, folder := range os.Args[2:] {
		if err := decide(os.Args[1], folder); err != nil {
			fmt.Fprintln(os.Stderr, "decide:", err)
			os.Exit(1)
		}
	}
}

func decide(out, folder string) error {
	sides := map[string][]bench.Digest{}
	for _, side := range []string{"base", "reference", "head"} {
		name := filepath.Join(folder, side+".json")
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		d, err := bench.ReadDigest(bytes.NewReader(data), name)
		if err != nil {
			return err
		}
		sides[side] = []bench.Digest{d}
	}
	var v gate.Verdict
	switch base, reference, head := sides["base"], sides["reference"], sides["head"]; {
	case reference == nil:
		v = gate.Decide(policy(), base, head)
	case base == nil:
		v = gate.Decide(policy(), reference, head)
	default:
		v = gate.Confirm(policy(), base, reference, head)
	}
	f, err := os.Create(filepath.Join(out, filepath.Base(folder)+".json"))
	if err != nil {
		return err
	}
	return errors.Join(gate.WriteVerdict(f, v), f.Close())
}

func policy() gate.Policy {
	p := gate.Defaults()
	p.Planned = false
	compare := func(metric string, ruleOut float64) gate.Rule {
		tolerance := 0.05
		return gate.Rule{Metric: metric, Tolerance: &tolerance, RuleOut: &ruleOut}
	}
	least, most, points := 0.95, 0.005, 0.02
	primary := compare("ttft.p95", 0.25)
	primary.Primary = true
	p.Rules = []gate.Rule{
		primary, compare("tpot.mean", 0.15), compare("output.rate", 0.25),
		{Metric: "goodput.ratio", Tolerance: &points}, {Metric: "goodput.ratio", Min: &least}, {Metric: "error.ratio", Max: &most},
	}
	return p
}
