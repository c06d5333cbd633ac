package gate

import (
	"fmt"

	"github.com/benchgate/benchgate/internal/bench"
)

// The designs that a verdict names.
const (
	designInterleaved = "interleaved"
	designConfirm     = "confirm"
)

// acrossDays reports whether the finding rests on a comparison with another session, between which a day may lie.
func (q *question) acrossDays() bool { return q.finding.Change != nil && !q.same }

// bound says what the verdict claims about false alarms, and what its passes exclude. Where only an interleaved comparison may
// be red, no day lies between the sides and nothing is presumed about days; passes of a first stage presume it all the same.
func (v *Verdict) bound(p Policy, acrossDays bool) string {
	primaries, others := 0, 0
	var excluded []string
	for _, f := range v.Findings {
		if f.Change == nil {
			continue
		}
		if f.Primary {
			primaries++
		} else {
			others++
		}
		if f.Outcome == Pass && f.Primary {
			m, err := bench.ParseMetric(f.Metric)
			if err == nil {
				excluded = append(excluded, f.Scenario+" "+f.Metric+" "+speak(m).most(f.Change))
			}
		}
	}
	days := ""
	if acrossDays {
		days = fmt.Sprintf(", as long as days differ by no more than %s (gate.baseline.day_sd)", percent(p.DaySD))
	}
	sure := 1 - p.alpha()
	s := p.promise(primaries, others)
	if v.Design != designConfirm {
		s, days = s+days, ""
	} else {
		sure = 1 - 2*p.alpha() // a change that should be seen has two stages to slip through
		if primaries+others > 0 {
			s += "; only the second stage, in which both builds are measured in turn, turns anything red"
		}
	}
	s += "."
	if len(excluded) > 0 {
		s += fmt.Sprintf(" With %s confidence each%s: %s.", percent(sure), days, list(excluded, 8))
	}
	return s
}

// promise is the rate of false alarms, by the families in which rules were compared.
func (p Policy) promise(primaries, others int) string {
	level := percent(p.alpha())
	switch {
	case primaries > 0 && others > 0:
		return fmt.Sprintf("Two identical builds turn a primary metric red in at most %s of comparisons and any comparative rule in at most %s, over all scenarios together", level, percent(2*p.alpha()))
	case primaries > 0:
		return fmt.Sprintf("Two identical builds turn a primary metric red in at most %s of comparisons, over all scenarios together", level)
	case others > 0:
		return fmt.Sprintf("Two identical builds turn a comparative rule red in at most %s of comparisons, over all scenarios together", level)
	}
	return "Nothing was compared, so nothing is claimed about false alarms"
}
