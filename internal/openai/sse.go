package openai

import (
	"bytes"
	"errors"
)

// maxEvent is how many bytes one event may have. A larger one ends the request.
const maxEvent = 16 << 20

var errEventTooLong = errors.New("an event is longer than 16 MiB")

// event is one event of a stream. Its data is good until emit returns.
type event struct {
	name []byte // the event field; empty for an unnamed event
	data []byte // the data lines, joined by \n
	// dropped: the event begins with a comment, for which vllm bench serve drops it whole.
	dropped bool
}

// parser reads server-sent events by the standard (https://html.spec.whatwg.org/multipage/server-sent-events.html, §9.2.6),
// in pieces cut anywhere. An event is complete at its blank line, and with the carriage return of that line when one is
// used: waiting for the line feed that may follow would date the event by the next read. An incomplete last event is lost.
//
// The parser of tmaxmax/go-sse answers alike and stands in the tests as the oracle. It is not used here: it makes two
// strings of each event and takes about eight times as long (BenchmarkParser), it begins an event again at each read, which
// costs the square of its length when a long one comes in small pieces, and it does not tell empty data from none.
type parser struct {
	line   []byte // the beginning of a line whose end has not come
	name   []byte
	data   []byte
	any    bool // a data line has come
	skipLF bool // the last byte was a carriage return that ended a line
	bom    int  // how many bytes of a byte order mark were seen; -1 when the stream's first bytes are past
	seen   framing
}

// feed takes the next bytes of the stream and calls emit for each event that they complete, until emit says false.
func (p *parser) feed(b []byte, emit func(event) bool) error {
	b = p.mark(b)
	lf := -1 // the next line feed in b: looked for once, not once a line, since a stream may use carriage returns only
	for i := 0; i < len(b); {
		if p.skipLF {
			p.skipLF = false
			if b[i] == '\n' {
				i++
				continue
			}
		}
		if lf < i {
			lf = indexFrom(b, i, '\n')
		}
		end := lf
		if cr := bytes.IndexByte(b[i:lf], '\r'); cr >= 0 {
			end = i + cr
		}
		if len(p.line)+len(p.data)+end-i > maxEvent {
			return errEventTooLong
		}
		if end == len(b) {
			p.line = append(p.line, b[i:]...)
			return nil
		}
		p.skipLF = b[end] == '\r'
		p.seen.cr = p.seen.cr || p.skipLF
		if !p.ended(b[i:end], emit) {
			return nil
		}
		i = end + 1
	}
	return nil
}

// indexFrom is the place of the first c in b from i on, len(b) when there is none.
func indexFrom(b []byte, i int, c byte) int {
	if n := bytes.IndexByte(b[i:], c); n >= 0 {
		return i + n
	}
	return len(b)
}

// holds is how many bytes of memory the parser keeps.
func (p *parser) holds() int { return cap(p.line) + cap(p.data) + cap(p.name) }

// rest reports whether the stream ended within an event that says something: the standard has it lost.
func (p *parser) rest() bool {
	_, last, _ := bytes.Cut(p.line, []byte{':'})
	last = bytes.TrimSpace(append(p.data[:len(p.data):len(p.data)], last...))
	return len(last) > 0 && string(last) != "[DONE]"
}

// mark takes a byte order mark off the start of the stream, even one that comes in pieces.
func (p *parser) mark(b []byte) []byte {
	const mark = "\xEF\xBB\xBF"
	for p.bom >= 0 && len(b) > 0 {
		if p.bom == len(mark) {
			p.bom, p.seen.odd = -1, true
			break
		}
		if b[0] != mark[p.bom] {
			p.line = append(p.line, mark[:p.bom]...)
			p.bom = -1
			break
		}
		p.bom++
		b = b[1:]
	}
	return b
}

// ended handles a line whose last piece is rest.
func (p *parser) ended(rest []byte, emit func(event) bool) bool {
	line := rest
	if len(p.line) > 0 {
		p.line = append(p.line, rest...)
		line = p.line
		p.line = p.line[:0]
	}
	if len(line) > 0 {
		p.field(line)
		return true
	}
	more := true
	dropped := p.seen.blank(p.any, p.data)
	if p.any {
		more = emit(event{name: p.name, data: p.data, dropped: dropped})
	}
	p.any, p.name, p.data = false, p.name[:0], p.data[:0]
	return more
}

func (p *parser) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	p.seen.line(name, value)
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if p.any {
			p.data = append(p.data, '\n')
		}
		p.any = true
		p.data = append(p.data, value...)
	case "event":
		p.name = append(p.name[:0], value...)
	case "error":
		// Not in the standard: builds of llama-server up to 2024 said "error: {…}" in the middle of a stream.
		p.name = append(p.name[:0], "error"...)
		p.any = true
		p.data = append(p.data, value...)
	}
}
