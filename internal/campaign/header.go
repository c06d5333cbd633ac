package campaign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/host"
)

// simulatedMark in a model's name says that the server only plays one.
const simulatedMark = "simulated"

// header writes the campaign's first line, or holds the prompts of a continued campaign against those it has.
func (v *visit) header(texts map[string]bench.Calibration) error {
	p := v.p.plan
	plan, err := p.Hash()
	if err != nil {
		return err
	}
	c := p.Config.Campaign
	h := bench.Header{
		Schema: bench.CampaignSchema, Campaign: v.o.ID, Started: v.o.Now().UTC(), Runner: p.Config.Runner,
		Key: v.o.Key, Plan: plan, Design: c.Design, Commit: v.o.Commit, Reference: v.o.ReferenceCheckout, Tool: v.o.Tool,
		MustMatch: v.mustMatch(), UnderTest: v.underTest(),
		Simulated: v.simulated(),
		Texts:     texts, Workloads: map[string]string{}, SLOs: map[string]bench.SLO{},
	}
	if len(p.plain()) > 0 {
		h.Planned = p.Runs
	}
	if p.turns() {
		h.Looks = c.Looks
		h.UnderTest = nil // it differs between the sides: each visit says its own
	}
	for _, s := range p.Scenarios {
		h.Workloads[s.Name] = v.p.workloads[s.Name].Hash()
		h.SLOs[s.Name] = s.SLO
	}
	old := v.j.log.Header
	if old.Schema == "" {
		return v.write(bench.Record{Header: &h})
	}
	for _, k := range slices.Sorted(maps.Keys(h.Workloads)) {
		if old.Workloads[k] != h.Workloads[k] {
			return fmt.Errorf("the workload of scenario %q changed since this campaign began: start anew with --fresh", k)
		}
	}
	return nil
}

// known holds the server against what the campaign has met before: the same server on the same side, and on the other one
// that it can be compared with.
func (v *visit) known() error {
	must, under := v.mustMatch(), v.underTest()
	if was, ok := facts(v.j.log, v.side); ok {
		if err := sameServer(was, bench.VisitRecord{MustMatch: must, UnderTest: under}); err != nil {
			return v.ofSide(err)
		}
	}
	other := candidate
	if v.side == candidate {
		other = reference
	}
	was, ok := facts(v.j.log, other)
	if !ok {
		return nil
	}
	for _, f := range bench.Compare(bench.Digest{MustMatch: was.MustMatch}, bench.Digest{MustMatch: must}).Incomparable {
		return &ServerError{
			Doing: "compare the " + v.side + " with the " + other,
			Err:   fmt.Errorf("%s is %q here and %q there, and they would measure different things", f.Name, f.Head, f.Base),
			Hint:  "start both with the same " + f.Name + "; or set campaign.design: committed and accept a new epoch of the baseline",
		}
	}
	return nil
}

// ofSide says of which side an error is, where there are two.
func (v *visit) ofSide(err error) error {
	if v.slot == 0 {
		return err
	}
	return fmt.Errorf("the %s: %w", v.side, err)
}

// facts are those of a side's first visit; of a candidate, those of the header where no visit has any.
func facts(log bench.CampaignLog, side string) (bench.VisitRecord, bool) {
	for _, v := range log.Visits {
		if v.Side == side && v.MustMatch != nil {
			return v, true
		}
	}
	h := log.Header
	return bench.VisitRecord{MustMatch: h.MustMatch, UnderTest: h.UnderTest}, side == candidate && h.Schema != "" && h.Looks == nil
}

// identity are the facts under test that make a server another one: half a campaign on each would be about neither.
var identity = []string{bench.KeyEngine, bench.KeyVersion, "model_file", "quantisation", "slots", "context"}

// sameServer refuses to go on on another machine or against another server.
func sameServer(old, now bench.VisitRecord) error {
	keys := map[string]string{}
	maps.Copy(keys, old.MustMatch)
	maps.Copy(keys, now.MustMatch)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if was, is := old.MustMatch[k], now.MustMatch[k]; was != is {
			return anotherError(k, was, is)
		}
	}
	for _, k := range identity {
		if was, is := old.UnderTest[k], now.UnderTest[k]; was != is {
			return anotherError(k, was, is)
		}
	}
	return nil
}

func anotherError(key, was, is string) error {
	return fmt.Errorf("this campaign began with %s %q, and now it is %q: start anew with --fresh", key, was, is)
}

func (v *visit) mustMatch() map[string]string {
	m := v.o.Host.MustMatch()
	m[bench.KeyModel] = v.target.Model
	if q := v.caps.Facts["quantisation"]; q != "" {
		m[bench.KeyModel] += ", " + q
	}
	m["api"] = v.target.API
	if sampling, err := json.Marshal(v.p.plan.Config.Sampling); err == nil {
		m["sampling"] = string(sampling)
	}
	m[bench.KeyDefinitions] = bench.Definitions
	m[bench.KeyTool] = "benchgate"
	m[bench.KeyTopology] = bench.OtherHost
	if host.Local(v.caps.Address) {
		m[bench.KeyTopology] = bench.SameHost
	}
	m[bench.KeyOutput] = "ceiling"
	if v.caps.Exact {
		m[bench.KeyOutput] = "exact"
	}
	if !v.caps.Usage {
		m[bench.KeyCounts] = "chunks" // the usual case has no key, so that digests of all ages agree
	}
	return m
}

func (v *visit) underTest() map[string]string {
	u := map[string]string{}
	maps.Copy(u, v.caps.Facts)
	maps.Copy(u, v.caps.Traits())
	maps.Copy(u, v.server.Facts())
	commit := v.o.Commit
	if v.side == reference {
		commit = v.o.ReferenceCommit
	}
	if commit != "" {
		u[bench.KeyCommit] = commit
	}
	return u
}
