package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// courseShown is how many of its standard errors a trend has to reach before a reader hears of it.
const courseShown = 3

// remark warns of patterns in the runs that no interval shows. Nothing is dropped for any of them.
func (q *question) remark() {
	q.drifting()
	if q.metric.Scale != bench.Log {
		return // shares of a few hundred requests are too coarse to have a pattern
	}
	q.warmed()
	q.modes()
	for _, s := range []*side{q.base, q.head} {
		if names := q.outlying(s); len(names) > 0 {
			q.warn("far from the other runs of the %s, and kept: %s", s.title(), list(names, 5))
		}
	}
}

// drifting warns when the campaign's course changed both sides by more than the rule tolerates. The standard error of the
// trend is that of a straight line through n evenly spaced runs, sd·√(12(n−1)/(n(n+1))) from the first to the last.
func (q *question) drifting() {
	c := q.comparison
	if c.Order == nil {
		return
	}
	n := float64(size(c.base) + size(c.head))
	se := max(c.SD, q.floor(), leastSD) * math.Sqrt(12*(n-1)/(n*(n+1)))
	course := q.worsening(*c.Order)
	if math.Abs(course) <= *q.rule.Tolerance || math.Abs(*c.Order) < courseShown*se {
		return
	}
	q.warn("from the first visit to the last both sides became %s: the order of visits is in the model and takes that out, but the machine did not stand still (clocks, heat, other work)",
		speak(q.metric).change(course, decimals(math.Abs(course)*100/4)))
}

// warmed warns when the first run after a start is slower than those that follow.
func (q *question) warmed() {
	var groups [][]float64
	for _, s := range []*side{q.base, q.head} {
		groups = append(groups, q.starts(s)...)
	}
	if excess, slow := stat.FirstSlow(groups); slow {
		by := math.Expm1(bounded(excess))
		q.warn("the first run after a start is %s than those that follow: the warm-up was not enough (campaign.warmup)", speak(q.metric).change(by, decimals(by*100/4)))
	}
}

// starts are the runs between one start of the server and the next, as worsenings in the order measured.
func (q *question) starts(s *side) [][]float64 {
	var out [][]float64
	last := [2]int{-1, -1}
	for _, r := range q.measured(s) {
		if at := [2]int{r.session, r.visit}; at != last {
			last = at
			out = append(out, nil)
		}
		y, _ := value(q.metric, r)
		out[len(out)-1] = append(out[len(out)-1], q.asWorse(y))
	}
	return out
}

// asWorse makes larger worse.
func (q *question) asWorse(y float64) float64 {
	if q.metric.HigherBetter() {
		return -y
	}
	return y
}

// modes warns when the runs fall into two groups. Where the sides took turns on one machine they are looked at together.
func (q *question) modes() {
	base, head := q.residuals(q.comparison.base, stat.Mean), q.residuals(q.comparison.head, stat.Mean)
	two := stat.TwoModes(base) || stat.TwoModes(head)
	if q.same {
		two = stat.TwoModes(append(base, head...))
	}
	if two {
		q.warn("the runs fall into two groups, as on a machine that changes between two states (clocks, memory, a neighbour): a mean describes neither")
	}
}

// residuals are the worsenings of a sample, each from the centre of its session.
func (q *question) residuals(s stat.Sample, centre func([]float64) (float64, error)) []float64 {
	var out []float64
	for _, session := range s.Sessions {
		m, err := centre(session)
		if err != nil {
			panic(err) // a session of a comparison that came about has runs
		}
		for _, y := range session {
			out = append(out, q.asWorse(y-m))
		}
	}
	return out
}

// outlying names the runs, or visits, that lie far from the others of their side: each counted from the median of its
// session, since the mean of few runs goes along with the one that is far out and makes the others seem so.
func (q *question) outlying(s *side) []string {
	sample := q.comparison.head
	if s.name == "base" {
		sample = q.comparison.base
	}
	judged := q.measured(s)
	groups := units(judged)
	ys := q.residuals(sample, median)
	var out []string
	for _, i := range stat.Outlying(ys) {
		if i >= len(groups) {
			break
		}
		group := groups[i]
		name := s.among(group[0], judged)
		if group[0].turn {
			name = fmt.Sprintf("visit %d", group[0].visit)
		}
		by := math.Expm1(bounded(ys[i]))
		out = append(out, fmt.Sprintf("%s (%s than the median of its session)", name, strings.TrimSpace(speak(q.metric).change(by, 0))))
	}
	return out
}

// among names a run by its place among the judged runs of its session: the number of a run counts those that warm up, and
// those of other scenarios.
func (s *side) among(r placed, judged []placed) string {
	place, of := 0, 0
	for _, x := range judged {
		if x.session != r.session {
			continue
		}
		if of++; x.place == r.place {
			place = of
		}
	}
	name := fmt.Sprintf("the %s of %s", ordinal(place), count(of, "run"))
	if len(s.digest.Sessions) > 1 {
		name += " of session " + s.digest.Sessions[r.session].ID
	}
	return name
}

// ordinal writes a place: "1st", "12th".
func ordinal(n int) string {
	end := "th"
	if n%100/10 != 1 && n%10 >= 1 && n%10 <= 3 {
		end = []string{"st", "nd", "rd"}[n%10-1]
	}
	return strconv.Itoa(n) + end
}

func median(xs []float64) (float64, error) { return stat.Quantile(xs, 0.5) }
