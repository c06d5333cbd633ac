package gate

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// environment compares the surroundings of both sides, in the scenarios that both have. A fact that all of them share is
// told once. Where no scenario has both sides, that of the one side is told and nothing differs.
func environment(pairs []*pair) Environment {
	both := slices.DeleteFunc(slices.Clone(pairs), func(x *pair) bool { return x.compared() == nil || x.head == nil })
	some := slices.DeleteFunc(slices.Clone(pairs), func(x *pair) bool { return x.compared() == nil && x.head == nil })
	if len(both) > 0 {
		some = both
	}
	var match, test []Fact
	for _, x := range some {
		match = append(match, facts(x.scenario, mustMatch(x.compared()), mustMatch(x.head))...)
		test = append(test, facts(x.scenario, underTest(x.compared()), underTest(x.head))...)
	}
	e := Environment{MustMatch: shared(match, len(some)), UnderTest: shared(test, len(some))}
	if len(both) == 0 {
		return e
	}
	for _, f := range slices.Concat(e.MustMatch, e.UnderTest) {
		if f.Base != f.Head {
			e.Diff = append(e.Diff, f)
		}
	}
	return e
}

func mustMatch(s *side) map[string]string {
	if s == nil {
		return nil
	}
	return s.digest.MustMatch
}

// underTest is that of the newest session: the last, since a side keeps them in the order they began.
func underTest(s *side) map[string]string {
	if s == nil || len(s.digest.Sessions) == 0 {
		return nil
	}
	return s.digest.Sessions[len(s.digest.Sessions)-1].UnderTest
}

func facts(scenario string, base, head map[string]string) []Fact {
	names := slices.Concat(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(head)))
	slices.Sort(names)
	var out []Fact
	for _, name := range slices.Compact(names) {
		out = append(out, Fact{scenario, name, base[name], head[name]})
	}
	return out
}

// shared tells once, without a scenario, what all scenarios say alike.
func shared(fs []Fact, scenarios int) []Fact {
	times := map[Fact]int{}
	for _, f := range fs {
		f.Scenario = ""
		times[f]++
	}
	told := map[Fact]bool{}
	var out []Fact
	for _, f := range fs {
		all := Fact{"", f.Name, f.Base, f.Head}
		switch {
		case times[all] < scenarios:
			out = append(out, f)
		case !told[all]:
			told[all] = true
			out = append(out, all)
		}
	}
	slices.SortStableFunc(out, func(a, b Fact) int {
		return cmp.Or(strings.Compare(a.Scenario, b.Scenario), strings.Compare(a.Name, b.Name))
	})
	return out
}

// baselineOf says what the candidate was compared with: the oldest of the baselines and the fewest sessions, since a chain
// is as strong as its weakest link, with the record of the newest session.
func baselineOf(pairs []*pair) *Baseline {
	var out *Baseline
	var newest bench.Session
	for _, x := range pairs {
		if x.base == nil || len(x.base.digest.Sessions) == 0 {
			continue
		}
		sessions := x.base.digest.Sessions
		if out == nil {
			out = &Baseline{Sessions: len(sessions)}
		}
		out.Sessions = min(out.Sessions, len(sessions))
		if last := sessions[len(sessions)-1]; !last.Started.Before(newest.Started) {
			newest = last
		}
		if x.head == nil || x.same {
			continue
		}
		if age, known := x.age(); known {
			out.AgeDays = max(out.AgeDays, stat.Round(days(age)))
		}
	}
	if out != nil {
		o := newest.Origin
		out.Origin = Origin{Commit: o.Commit, Engine: o.Engine, Who: o.Who, Why: o.Why}
	}
	return out
}
