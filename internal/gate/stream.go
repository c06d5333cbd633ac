package gate

import (
	"fmt"
	"math"
	"slices"
)

const (
	mostBuffered = 0.25 // share of answers that may have come all at once: a client that shares its cores with the server wakes late for one in ten short ones
	cutDiffers   = 0.10 // of the mean number of tokens a chunk, between the sides
)

// buffered is the share of a side's answers that came all at once, of those of which it can be told; 0 where it can be told
// of none.
func (s *side) buffered() float64 {
	told := s.keep(func(r placed) bool { return r.Buffered != nil })
	sum, n := 0.0, 0
	for _, r := range told {
		sum += float64(*r.Buffered * float64(r.OK))
		n += r.OK
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func (s *side) isBuffered() bool { return s != nil && s.buffered() > mostBuffered }

// ofStream reports whether a metric depends on when the first or the single tokens of an answer came.
func (q *question) ofStream() bool {
	switch what(q.metric) {
	case "ttft", "ttfot", "tpot", "icl", "ttft_sched":
		return true
	case "goodput":
		return slices.ContainsFunc([]*side{q.base, q.head}, func(s *side) bool {
			return s != nil && (s.digest.SLO.TTFT != nil || s.digest.SLO.TPOT != nil)
		})
	}
	return false
}

// streamed settles a question about the course of answers that something held back and sent on at once: their first token
// is dated by what held them, and their tokens have no times of their own. The end of an answer keeps its meaning.
func (q *question) streamed() {
	if !q.rule.comparative() && !q.rule.absolute() || !q.ofStream() {
		return
	}
	if q.head.isBuffered() {
		who := together(q.head)
		if q.base.isBuffered() {
			who = together(q.base) + ", " + who
		}
		q.settle(Invalid, q.heldBack(who),
			"Let nothing between server and client hold the stream back (nginx: proxy_buffering off), or measure the server without the proxy. e2el, output.rate and error.ratio are judged meanwhile.")
	}
}

// baseStreamed is the same of a side that the candidate is compared with.
func (q *question) baseStreamed() {
	if !q.ofStream() || !q.base.isBuffered() {
		return
	}
	next := "Accept a baseline whose stream was not held back: benchgate baseline accept --new-epoch --reason TEXT."
	if q.base.inTurn {
		next = "Start the reference without what holds its stream back."
	}
	q.settle(Invalid, q.heldBack(together(q.base)+", and the candidate's did not"), next)
}

func together(s *side) string {
	return fmt.Sprintf("%s of the %s's answers came all at once", estimated(s.buffered(), 0.01), s.title())
}

func (q *question) heldBack(who string) string {
	return fmt.Sprintf("The stream is buffered: %s. %s then tells when the stream was let go, not when the server wrote.", who, q.metric.Name)
}

// stream is the check of one side.
func (s *side) stream() Check {
	share := s.buffered()
	c := Check{Name: "stream", OK: share <= mostBuffered, Detail: "token by token"}
	told := s.keep(func(r placed) bool { return r.Buffered != nil })
	switch {
	case len(told) == 0:
		c.Detail = "not recorded"
	case share > 0:
		c.Detail = estimated(share, 0.01) + " of answers came all at once"
	}
	return c
}

// perChunk is the mean number of tokens a chunk; 0 when unknown.
func (s *side) perChunk() float64 {
	chunks := s.weighted(func(r placed) float64 { return r.Chunks }, func(r placed) int { return r.OK })
	if chunks <= 0 {
		return 0
	}
	return s.outputLength() / chunks
}

// shortened is the factor by which tpot is too small where chunks hold several tokens: the first of them is dated as one
// moment with all its tokens, and (e2el − ttft)/(n − 1) still counts these. 1 when unknown.
func (s *side) shortened() float64 {
	n, k := s.outputLength(), s.perChunk()
	if !(k > 1 && n > k) {
		return 1
	}
	return (n - k) / (n - 1)
}

// cut compares how streams are cut into chunks.
func (x *pair) cut() Check {
	c := Check{Scenario: x.scenario, Name: "tokens per chunk", OK: true, Detail: "not recorded"}
	b, h := x.base.perChunk(), x.head.perChunk()
	if b > 0 && h > 0 {
		c.OK = !apart(b, h, cutDiffers)
		c.Detail = fmt.Sprintf("%s at base, %s here", format(b, 2), format(h, 2))
	}
	return c
}

func apart(a, b, by float64) bool { return a > 0 && b > 0 && math.Abs(math.Log(b/a)) > math.Log1p(by) }

// recut: a better tpot or icl may be no more than answers that come in larger pieces.
func (q *question) recut() (doubt, bool) {
	if q.base == nil {
		return doubt{}, false
	}
	b, h := q.base.perChunk(), q.head.perChunk()
	d := doubt{
		why: fmt.Sprintf("answers come in other pieces (%s tokens a chunk at base, %s here), and %s changes with that, whatever the server's speed",
			format(b, 2), format(h, 2), q.metric.Name),
		next: "Judge e2el or output.rate, which do not depend on it, or serve both sides with the same stream interval.",
	}
	switch what(q.metric) {
	case "icl":
		return d, apart(b, h, cutDiffers)
	case "tpot":
		return d, apart(q.base.shortened(), q.head.shortened(), lengthDiffers)
	}
	return doubt{}, false
}
