package config

import (
	"slices"

	"github.com/benchgate/benchgate/internal/gate"
)

// standIn moves what base says to the lines where head's text says the same: those are the lines of the change that people look
// at. What head no longer says stands in the file, at no line.
func (c *Config) standIn(head Config) {
	taken := map[int]bool{}
	for i, r := range c.Policy.Rules {
		if r.At == (gate.Place{}) { // a default, which stands nowhere
			continue
		}
		at := slices.IndexFunc(head.Policy.Rules, func(h gate.Rule) bool { return h.At.Line > 0 && !taken[h.At.Line] && sameQuestion(r, h) })
		c.Policy.Rules[i].At.Line = 0
		if at >= 0 {
			c.Policy.Rules[i].At = head.Policy.Rules[at].At
			taken[c.Policy.Rules[i].At.Line] = true
		}
	}
	for i, w := range c.Policy.Waivers {
		at := slices.IndexFunc(head.Policy.Waivers, func(h gate.Waiver) bool { return h.Metric == w.Metric && h.Scenario == w.Scenario })
		c.Policy.Waivers[i].At.Line = 0
		if at >= 0 {
			c.Policy.Waivers[i].At = head.Policy.Waivers[at].At
		}
	}
	for i, s := range c.Scenarios {
		at := slices.IndexFunc(head.Scenarios, func(h Scenario) bool { return h.Name == s.Name })
		c.Scenarios[i].At.Line = 0
		if at >= 0 {
			c.Scenarios[i].At = head.Scenarios[at].At
		}
	}
}

// sameQuestion says whether two rules ask the same, be it by another number.
func sameQuestion(a, b gate.Rule) bool {
	return a.Metric == b.Metric && a.Primary == b.Primary && slices.Equal(a.Scenarios, b.Scenarios) &&
		(a.Tolerance == nil) == (b.Tolerance == nil) && (a.Min == nil) == (b.Min == nil) && (a.Max == nil) == (b.Max == nil)
}
