package bench

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func known() map[string]string {
	m := map[string]string{}
	for _, k := range keys {
		m[k] = "this " + k
	}
	return m
}

func TestComparable(t *testing.T) {
	tests := []struct {
		name string
		edit func(base, head *Digest)
		want Comparability
	}{
		{"everything agrees", func(_, _ *Digest) {}, Comparability{}},
		{"another machine", func(_, h *Digest) { h.MustMatch[KeyMachine] = "other" }, Comparability{Incomparable: []Fact{{KeyMachine, "this machine", "other"}}}},
		{"known to one side alone", func(b, _ *Digest) { delete(b.MustMatch, KeyDriver) }, Comparability{Incomparable: []Fact{{KeyDriver, "", "this driver"}}}},
		{"empty is unknown", func(b, _ *Digest) { b.MustMatch[KeyDriver] = "" }, Comparability{Incomparable: []Fact{{KeyDriver, "", "this driver"}}}},
		{"unknown to both", func(b, h *Digest) {
			delete(b.MustMatch, KeyAccelerator)
			h.MustMatch[KeyAccelerator] = ""
		}, Comparability{Unknown: []string{KeyAccelerator}}},
		{"a fact that this program does not know must match too", func(b, h *Digest) {
			b.MustMatch["clock"], h.MustMatch["clock"] = "1980 MHz", "1410 MHz"
		}, Comparability{Incomparable: []Fact{{"clock", "1980 MHz", "1410 MHz"}}}},
		{"two differences come in the order of their names", func(_, h *Digest) {
			h.MustMatch[KeyWorkload], h.MustMatch[KeyModel] = "w", "m"
		}, Comparability{Incomparable: []Fact{{KeyModel, "this model", "m"}, {KeyWorkload, "this workload", "w"}}}},
		{"a simulated server is no server", func(_, h *Digest) { h.Simulated = true }, Comparability{Incomparable: []Fact{{"simulated", "false", "true"}}}},
		{"a renamed runner on the same machine", func(_, h *Digest) { h.Runner = "renamed" }, Comparability{}},
		{"another runner where no machine is known", func(b, h *Digest) {
			delete(b.MustMatch, KeyMachine)
			delete(h.MustMatch, KeyMachine)
			h.Runner = "other"
		}, Comparability{Unknown: []string{KeyMachine}, Incomparable: []Fact{{"runner", "lab", "other"}}}},
		{"what is under test may differ", func(b, h *Digest) {
			b.Sessions = []Session{{UnderTest: map[string]string{KeyEngine: "0.32"}}}
			h.Sessions = []Session{{UnderTest: map[string]string{KeyEngine: "0.33"}}}
		}, Comparability{}},
		{"another SLO is not looked at here", func(_, h *Digest) { x := 1.0; h.SLO.TTFT = &x }, Comparability{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			base := Digest{Runner: "lab", Scenario: "chat", MustMatch: known()}
			head := Digest{Runner: "lab", Scenario: "chat", MustMatch: known()}
			test.edit(&base, &head)
			if diff := cmp.Diff(test.want, Compare(base, head)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestComparabilityIsSymmetric(t *testing.T) {
	base := Digest{Runner: "lab", MustMatch: known()}
	head := Digest{Runner: "lab", MustMatch: maps.Clone(base.MustMatch)}
	head.MustMatch[KeyModel] = "other"
	delete(head.MustMatch, KeyTool)
	there, back := Compare(base, head), Compare(head, base)
	for i, f := range there.Incomparable {
		back.Incomparable[i] = Fact{f.Name, back.Incomparable[i].Head, back.Incomparable[i].Base}
	}
	if diff := cmp.Diff(there, back); diff != "" {
		t.Errorf("(-there +back)\n%s", diff)
	}
}
