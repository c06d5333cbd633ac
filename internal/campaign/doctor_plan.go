package campaign

import (
	"fmt"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// plan looks at what would be measured: how long it takes, and what its requests can tell.
func (d *doctor) plan() {
	if d.Plan == nil {
		return
	}
	p := d.Plan
	c := Check{
		Section: "config", Name: "time", State: Good, Found: fmt.Sprintf("%s at best, %s at worst", Span(p.Best), Span(p.Worst)),
		Figures: map[string]float64{"best": p.Best.Seconds(), "worst": p.Worst.Seconds(), "requests": float64(p.Requests)},
	}
	most, budget := p.Worst, p.Config.Campaign.Budget
	if p.Guessed {
		most = p.Best
		c.Found += ", until a run of the closed loop is known"
	}
	if budget > 0 {
		c.Found += fmt.Sprintf("; the budget is %s", Span(budget))
	}
	if budget > 0 && most > budget {
		c.State, c.Why = Fail, "run refuses a plan that does not fit its budget"
		c.Next = "raise campaign.budget, or ask for fewer requests, runs or looks; run --plan says more"
	}
	d.add(c)
	for _, s := range p.Scenarios {
		d.good("config", s.Name, "%d requests a run: %s", s.Load.Requests, reachable(s.Load.Requests))
	}
	for _, n := range p.Notes {
		d.add(Check{Section: "config", Name: "note", State: Warn, Found: n, Why: "the plan asks less than it seems to", Next: "see run --plan"})
	}
}

// reachable names the percentiles that so many successes support.
func reachable(requests int) string {
	var yes, no []string
	for _, p := range []string{"p50", "p90", "p95", "p99"} {
		m, err := bench.ParseMetric("ttft." + p)
		if err != nil {
			panic(err) // the table of metrics lacks a standard statistic
		}
		if requests >= m.Least {
			yes = append(yes, p)
		} else {
			no = append(no, fmt.Sprintf("%s needs %d", p, m.Least))
		}
	}
	text := "percentiles up to " + last(yes)
	if len(no) > 0 {
		text += " (" + strings.Join(no, ", ") + ")"
	}
	return text
}

func last(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return names[len(names)-1]
}

// Span writes a time to be planned with: whole seconds below a minute, else minutes.
func Span(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f min", d.Minutes())
}
