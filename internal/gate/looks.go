package gate

import (
	"fmt"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
)

// looks are the numbers of visits a side at which an interleaved campaign decides unless it was begun with others.
func (p Policy) looks() []int {
	if p.Looks == nil {
		return []int{6, 8, 10}
	}
	return p.Looks
}

// course is when a pair may be decided. The zero value is a single decision on all that was measured.
type course struct {
	looks  []int // visits a side, rising; nil: decided once
	passed int   // of the looks, how many both sides have the visits for
	look   int   // the look at which this view of the pair stands, from 0
	// fault says why nothing can be decided; warning what a reader should mind.
	fault, warning string
}

// another reports whether a look was planned after this one.
func (c course) another() bool { return c.look+1 < len(c.looks) }

// place says which look this is.
func (c course) place() string {
	if len(c.looks) == 0 {
		return "1 of 1"
	}
	return fmt.Sprintf("%d of %d (%s a side)", c.look+1, len(c.looks), count(c.looks[c.look], "visit"))
}

// plan finds the looks of a pair that was measured in turns. Those that the campaign was begun with win over the policy's. A
// campaign that names none and never restarted its servers (imported files) has no visits to count: it is decided once.
func (x *pair) plan(p Policy) {
	if !x.same {
		return
	}
	b, h := x.base.digest.Sessions[0], x.head.digest.Sessions[0]
	begun := b.Looks
	if len(begun) == 0 {
		begun = h.Looks
	}
	switch {
	case len(h.Looks) > 0 && !slices.Equal(begun, h.Looks):
		x.fault = fmt.Sprintf("The two sides of session %q name other looks: %v and %v", b.ID, b.Looks, h.Looks)
	case len(begun) == 0 && len(b.Visits) <= 1 && len(h.Visits) <= 1:
		x.fault = x.doubled()
		return
	case len(begun) == 0:
		begun = p.looks()
	case p.Looks != nil && !slices.Equal(begun, p.Looks):
		x.warning = fmt.Sprintf("the campaign was begun with looks at %v visits a side and is judged by them; the policy now says %v", begun, p.Looks)
	}
	x.looks = slices.Clone(begun)
	if x.fault == "" {
		x.fault = faultOf(begun)
	}
	if x.fault == "" {
		x.fault = x.doubled()
	}
	if x.fault == "" {
		least := min(len(units(x.base.fit)), len(units(x.head.fit)))
		for x.passed < len(begun) && begun[x.passed] <= least {
			x.passed++
		}
	}
}

// faultOf says what is wrong with a list of looks; empty for a sound one. A config reader refuses these with the line; this
// is for policies and digests made in code.
func faultOf(looks []int) string {
	before := 0
	for _, n := range looks {
		if n <= before || n%2 != 0 {
			return fmt.Sprintf("Looks %v: want even numbers that rise", looks)
		}
		before = n
	}
	switch {
	case len(looks) == 0:
		return "There is no look, so nothing can be decided"
	case len(looks) > bench.MostLooks:
		return fmt.Sprintf("%d looks: want at most %d", len(looks), bench.MostLooks)
	case before > bench.MostVisits:
		return fmt.Sprintf("A look at %d visits a side: want at most %d", before, bench.MostVisits)
	}
	return ""
}

// doubled says what stands twice in a campaign that counts visits and models the order of runs over both sides.
func (x *pair) doubled() string {
	orders := map[int]bool{}
	for _, s := range []*side{x.base, x.head} {
		numbers := map[int]bool{}
		for _, v := range s.digest.Sessions[0].Visits {
			if numbers[v.Number] {
				return fmt.Sprintf("Visit %d of the %s stands twice", v.Number, s.title())
			}
			numbers[v.Number] = true
			for _, r := range v.Runs {
				if orders[r.Order] && r.Order != 0 {
					return fmt.Sprintf("Run %d stands twice, so nobody knows the order in which the two sides took turns", r.Order)
				}
				orders[r.Order] = true
			}
		}
	}
	return ""
}

// decisions is how many times the pair is decided: at each look that was passed, else once.
func (x *pair) decisions() int { return max(1, x.passed) }

// at is the pair as it stood at a look: of each side, the first so many visits that have a run fit to compare. Where one side
// has more visits than the look asks for, the later ones wait for the next look, which the other side has to pass as well.
func (x *pair) at(look int) *pair {
	if x.passed == 0 {
		return x
	}
	y := *x
	y.whole, y.look = x, look
	y.base, y.head = x.base.upto(x.looks[look]), x.head.upto(x.looks[look])
	return &y
}

// upto is the side as it was after so many visits with a run fit to compare.
func (s *side) upto(visits int) *side {
	groups := units(s.fit)
	if len(groups) < visits {
		return s
	}
	out := &side{name: s.name, digest: s.digest, inTurn: s.inTurn}
	for _, group := range groups[:visits] {
		out.fit = append(out.fit, group...)
	}
	last := groups[visits-1][len(groups[visits-1])-1]
	for _, r := range s.runs {
		if r.place <= last.place || r.visit == last.visit {
			out.runs = append(out.runs, r)
		}
	}
	return out
}

// turns settles a pair that was to be decided at looks and cannot be: because its plan is at fault, or since it has not come
// to its first look.
func (q *question) turns() {
	switch {
	case q.fault != "":
		q.settle(Invalid, q.fault+".", "Give campaign.looks as even numbers that rise, such as [6, 8, 10], and measure with benchgate run, which counts visits and runs over both sides.")
	case len(q.looks) > 0 && q.passed == 0:
		q.settle(Invalid, fmt.Sprintf("The campaign is unfinished: its first look is at %d visits a side, and the reference has %d, the candidate %d.",
			q.looks[0], len(units(q.base.fit)), len(units(q.head.fit))), goOn)
		q.finding.Awaits = awaitsLook
	}
}

const goOn = "Run the same benchgate run again: it goes on where it stopped."
