package campaign

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
)

// simulatedMark in a model's name says that the server only plays one.
const simulatedMark = "simulated"

// header writes the campaign's first line, or holds a continued campaign against the one it has.
func (v *visit) header(texts map[string]bench.Calibration) error {
	p := v.o.Plan
	plan, err := p.Hash()
	if err != nil {
		return err
	}
	h := bench.Header{
		Schema: bench.CampaignSchema, Campaign: v.o.ID, Started: v.o.Now().UTC(), Runner: p.Config.Runner,
		Key: v.o.Key, Plan: plan, Planned: p.Runs, Commit: v.o.Commit, Tool: v.o.Tool,
		MustMatch: v.mustMatch(), UnderTest: v.underTest(),
		Simulated: v.simulated(),
		Texts:     texts, Workloads: map[string]string{}, SLOs: map[string]bench.SLO{},
	}
	for _, s := range p.Scenarios {
		h.Workloads[s.Name] = v.workloads[s.Name].Hash()
		h.SLOs[s.Name] = s.SLO
	}
	old := v.j.log.Header
	if old.Schema == "" {
		return v.write(bench.Record{Header: &h})
	}
	return sameCampaign(old, h)
}

// identity are the facts under test that make a server another one: half a campaign on each would be about neither.
var identity = []string{bench.KeyEngine, bench.KeyVersion, "model_file", "quantisation", "slots", "context"}

// sameCampaign refuses to continue a campaign on another machine or against another server.
func sameCampaign(old, now bench.Header) error {
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
	for _, k := range slices.Sorted(maps.Keys(now.Workloads)) {
		if old.Workloads[k] != now.Workloads[k] {
			return fmt.Errorf("the workload of scenario %q changed since this campaign began: start anew with --fresh", k)
		}
	}
	return nil
}

func anotherError(key, was, is string) error {
	return fmt.Errorf("this campaign began with %s %q, and now it is %q: start anew with --fresh", key, was, is)
}

func (v *visit) mustMatch() map[string]string {
	m := v.o.Host.MustMatch()
	c := v.o.Plan.Config
	m[bench.KeyModel] = c.Target.Model
	if q := v.caps.Facts["quantisation"]; q != "" {
		m[bench.KeyModel] += ", " + q
	}
	m["api"] = c.Target.API
	if sampling, err := json.Marshal(c.Sampling); err == nil {
		m["sampling"] = string(sampling)
	}
	m[bench.KeyDefinitions] = bench.Definitions
	m[bench.KeyTool] = "benchgate"
	m[bench.KeyTopology] = "client on another host"
	if loopback(v.caps.Address) {
		m[bench.KeyTopology] = "client on the server's host"
	}
	m[bench.KeyOutput] = "ceiling"
	if v.caps.Exact {
		m[bench.KeyOutput] = "exact"
	}
	return m
}

func (v *visit) underTest() map[string]string {
	u := map[string]string{}
	maps.Copy(u, v.caps.Facts)
	maps.Copy(u, v.server.Facts())
	if v.o.Commit != "" {
		u[bench.KeyCommit] = v.o.Commit
	}
	return u
}

// loopback reports whether an address, with or without a port, is this machine's own.
func loopback(address string) bool {
	if ap, err := netip.ParseAddrPort(address); err == nil {
		return ap.Addr().IsLoopback()
	}
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.IsLoopback()
}
