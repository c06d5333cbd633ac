package openai

import (
	"encoding/json"
	"math"
	"strconv"
)

// maxDepth is how deep a chunk's values may nest.
const maxDepth = 200

// scanner walks over one JSON text without copying and without allocating. encoding/json takes several allocations and
// most of the time that a token costs; its answers are the oracle of this one in the tests.
//
// Every method reports false when the text is not JSON.
type scanner struct {
	b     []byte
	i     int
	depth int
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// peek is the next byte after white space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// done reports whether nothing but white space is left.
func (s *scanner) done() bool {
	s.space()
	return s.i == len(s.b)
}

// members calls each for every member of the object that comes next; each consumes the value.
func (s *scanner) members(each func(name []byte) bool) bool {
	if !s.take('{') || !s.deeper() {
		return false
	}
	for first := true; s.peek() != '}'; first = false {
		if !first && !s.take(',') {
			return false
		}
		name, ok := s.text()
		if !ok || !s.take(':') || !each(plain(name)) {
			return false
		}
	}
	s.i++
	s.depth--
	return true
}

// elements calls each for every element of the array that comes next; each consumes it.
func (s *scanner) elements(each func() bool) bool {
	if !s.take('[') || !s.deeper() {
		return false
	}
	for first := true; s.peek() != ']'; first = false {
		if !first && !s.take(',') {
			return false
		}
		if !each() {
			return false
		}
	}
	s.i++
	s.depth--
	return true
}

func (s *scanner) deeper() bool {
	s.depth++
	return s.depth <= maxDepth
}

// value consumes any value and returns its text.
func (s *scanner) value() (raw []byte, ok bool) {
	c := s.peek()
	start := s.i
	switch {
	case c == '{':
		ok = s.members(s.skipMember)
	case c == '[':
		ok = s.elements(s.skip)
	case c == '"':
		_, ok = s.text()
	case c == '-' || '0' <= c && c <= '9':
		ok = s.number()
	case c == 't':
		ok = s.word("true")
	case c == 'f':
		ok = s.word("false")
	case c == 'n':
		ok = s.word("null")
	}
	return s.b[start:s.i], ok
}

func (s *scanner) skip() bool {
	_, ok := s.value()
	return ok
}

func (s *scanner) skipMember([]byte) bool { return s.skip() }

// text consumes a string and returns it with its quotes.
func (s *scanner) text() (raw []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.i - 1
	for s.i < len(s.b) {
		c := s.b[s.i]
		s.i++
		switch {
		case c == '"':
			return s.b[start:s.i], true
		case c == '\\':
			if !s.escape() {
				return nil, false
			}
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

func (s *scanner) escape() bool {
	if s.i == len(s.b) {
		return false
	}
	c := s.b[s.i]
	s.i++
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if s.i == len(s.b) || !isHex(s.b[s.i]) {
				return false
			}
			s.i++
		}
		return true
	}
	return false
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (s *scanner) number() bool {
	s.accept("-")
	if !s.accept("0") && !s.digits() {
		return false
	}
	if s.accept(".") && !s.digits() {
		return false
	}
	if s.accept("eE") {
		s.accept("+-")
		return s.digits()
	}
	return true
}

func (s *scanner) accept(set string) bool {
	if s.i == len(s.b) {
		return false
	}
	for i := range len(set) {
		if s.b[s.i] == set[i] {
			s.i++
			return true
		}
	}
	return false
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

// plain is the content of a string given with its quotes. Only a string with escapes costs an allocation.
func plain(raw []byte) []byte {
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				return inner
			}
			return []byte(text)
		}
	}
	return inner
}

// filled reports whether a value holds something: text, elements or members. Null, numbers and booleans do not.
func filled(raw []byte) bool {
	if len(raw) < 2 {
		return false
	}
	switch raw[0] {
	case '"':
		return len(raw) > 2
	case '{', '[':
		s := scanner{b: raw[1 : len(raw)-1]}
		return !s.done()
	}
	return false
}

// count reads a count of tokens.
func count(raw []byte) (n int, ok bool) {
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v < 0 || v > 1e9 || v != math.Trunc(v) {
		return 0, false
	}
	return int(v), true
}
