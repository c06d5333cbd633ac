package github

import (
	"io"
	"unicode"
	"unicode/utf8"
)

// Defuse returns a writer for foreign text, such as the last words of a server: no line that goes through it is a command
// to the runner. The runner takes "::" after leading blanks for the start of one, and "##[" anywhere in a line; a blank
// breaks up both. Controls and characters without width are left out, because the runner's comparison of texts overlooks
// them. A line is ended by "\n" or "\r". Text passes at once, but for a character whose bytes are not all there.
func (r *Runner) Defuse(w io.Writer) io.Writer {
	return &defuser{to: w, blank: true}
}

// defuser remembers, from write to write, where in a line it stands.
type defuser struct {
	to     io.Writer
	part   []byte // the first bytes of a character
	blank  bool   // nothing but blanks in this line so far
	colon  bool   // blanks, and one colon
	hashes int    // how many "#" stand right before
	escape bool   // within the colour code of a terminal
}

func (d *defuser) Write(p []byte) (int, error) {
	text := append(d.part, p...)
	out := make([]byte, 0, len(text)+8)
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		out = d.next(out, r)
	}
	d.part = append([]byte(nil), text...)
	if _, err := d.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (d *defuser) next(out []byte, r rune) []byte {
	switch {
	case r == '\n' || r == '\r':
		d.blank, d.colon, d.hashes, d.escape = true, false, 0, false
		return append(out, byte(r))
	case d.escape:
		// ESC [ numbers, and one letter ends it.
		if r >= '@' && r <= '~' && r != '[' {
			d.escape = false
		}
		return out
	case r == '\x1b':
		d.escape = true
		return out
	case unseen(r):
		return out
	case r == '[' && d.hashes > 1, r == ':' && d.colon:
		out = append(out, ' ')
	}
	d.hashes = hashesAfter(d.hashes, r)
	d.colon = d.blank && r == ':'
	d.blank = d.blank && unicode.IsSpace(r)
	return utf8.AppendRune(out, r)
}

func hashesAfter(n int, r rune) int {
	if r == '#' {
		return n + 1
	}
	return 0
}

// unseen tells the characters that a comparison of texts may overlook: controls, and those without width.
func unseen(r rune) bool {
	return unicode.IsControl(r) && r != '\t' ||
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
