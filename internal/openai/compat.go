package openai

import (
	"bytes"
	"errors"
	"io"

	"github.com/benchgate/benchgate/internal/bench"
)

// framing is what a stream looks like to the parser of vllm bench serve, which splits at "\n\n" and takes each piece for
// one line "data: …" or for a comment.
type framing struct {
	lines   int  // of the event at hand
	comment bool // … which begins with a comment: it is dropped whole
	strange bool // … which is more than one line "data: …"
	odd     bool // an event was not what it expects: it has given up
	cr      bool // lines end with a carriage return: what it sees hangs on how the bytes fall into reads
}

// line notes a line of the event at hand; the value has its leading space.
func (f *framing) line(name, value []byte) {
	f.lines++
	switch {
	case len(name) == 0 && f.lines == 1:
		f.comment = true
	case string(name) != "data" || f.lines > 1 || len(value) == 0 || value[0] != ' ':
		f.strange = true
	}
}

// blank notes the end of an event, and reports whether it is dropped.
func (f *framing) blank(any bool, data []byte) (dropped bool) {
	if !f.comment && (f.strange || any && len(bytes.TrimSpace(data)) == 0) {
		f.odd = true
	}
	dropped = f.comment
	f.lines, f.comment, f.strange = 0, false, false
	return dropped
}

// compat notes where the client of vllm bench serve 0.33 reads something else off a stream: see [bench.VLLM].
type compat struct {
	stretches []int
	since     int  // the chunk at which the stretch at hand began
	unknown   bool // it is one of chunks that it does not know
	blank     []float64
	usage     usage
	broken    error // what ended the stream, unless it was its end
}

// take notes what it makes of the chunk at hand, after the answer has taken it; ours says that it counts there.
func (v *compat) take(a *answer, ours, dropped bool) {
	c := &a.chunk
	lost := dropped || a.parser.seen.odd
	theirs := !lost && (c.output || a.completions && c.choices > 0)
	switch {
	case ours && theirs == v.unknown:
		at := a.req.Chunks - 1
		v.stretches = append(v.stretches, at-v.since)
		v.since, v.unknown = at, !theirs
	case theirs && !ours:
		v.blank = append(v.blank, a.at)
	}
	if !lost && !theirs && c.usage.known {
		prompt := v.usage.in
		if v.usage = c.usage; c.usage.in < 0 {
			v.usage.in = prompt
		}
	}
}

// ended notes how the reading of a stream ended. A limit of our own is no fault of the stream.
func (v *compat) ended(err error) {
	var limit *limitError
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &limit) {
		v.broken = err
	}
}

// view is what has to stand beside the request; nil when nothing has to.
func (v *compat) view(a *answer) *bench.VLLM {
	var view bench.VLLM
	if len(v.stretches) > 0 {
		view.Stretches = append(v.stretches, a.req.Chunks-v.since)
	}
	view.Blank = v.blank
	counted := 0
	if a.req.TokenSource == fromUsage {
		counted = a.req.OutputTokens
	}
	view.InputTokens, view.OutputTokens = other(v.usage.in, a.req.InputTokens), other(v.usage.out, counted)
	view.Broken = v.fault(a)
	view.Framing = a.req.Class.Ended() && (a.parser.seen.cr || a.parser.rest())
	if view.Stretches == nil && view.Blank == nil && view.InputTokens == nil && view.OutputTokens == nil && view.Broken == "" && !view.Framing {
		return nil
	}
	return &view
}

// other is their count where it is not ours.
func other(theirs, ours int) *int {
	n := max(0, theirs)
	if n == ours {
		return nil
	}
	return new(n)
}

// fault says why the request fails for it, where the class would not say so.
func (v *compat) fault(a *answer) string {
	switch {
	case !a.req.Class.Ended():
		return ""
	case a.parser.seen.odd:
		return "an event is not one line \"data: …\""
	case a.failed != nil && a.failed.class == bench.TooLong:
		return "benchgate left a stream that ran on"
	case v.broken != nil:
		return "the connection broke after the answer was complete"
	}
	return ""
}
