package terminal

import (
	"strings"
	"testing"
)

func TestEscapeSequencesAreStripped(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"none":                             {"plain\ttext\r\n\a", "plain\ttext\r\n\a"},
		"a colour":                         {"\x1b[1;31mred\x1b[0m", "red"},
		"a colour in one character":        {"\u009b31mred", "red"},
		"a cursor":                         {"a\x1b[2Jb\x1b[?25lc", "abc"},
		"a title":                          {"a\x1b]0;x\x07b\x1b]0;y\x1b\\c", "abc"},
		"a link":                           {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		"a title that ends with its line":  {"a\x1b]0;x\nb", "a\nb"},
		"a colour cut short":               {"a\x1b[31", "a"},
		"a colour with a line break in it": {"a\x1b[31\nb", "a\nb"},
		"another escape":                   {"a\x1bcb", "ab"},
		"an escape at the end":             {"a\x1b", "a"},
		"half an escape on each side":      {"a\xc2\u009bm\x9b31mb", "a\ufffd\ufffd31mb"},
	} {
		if got := Strip(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func FuzzStrip(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\x1b[31mred\x1b[0m", "\x1b\x1b[[3", "\u009b\u009b", "\x1b]0;\x1b", "\xff\x1b\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Strip(s)
		if strings.ContainsAny(got, "\x1b\u009b") {
			t.Errorf("an escape is left in %q of %q", got, s)
		}
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q has other lines than %q", got, s)
		}
	})
}
