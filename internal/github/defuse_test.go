package github_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

// command is a workflow command as the runner takes it.
type command struct {
	name       string
	properties map[string]string
	data       string
}

// runnerLines are the lines that the runner sees: "\r", "\n" and "\r\n" end one.
func runnerLines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\r' || r == '\n' })
}

// compared is a text as a comparison sees it that overlooks what has no width, as .NET's may.
func compared(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, s)
}

// parseV2 is the runner's first parser (ActionCommand.TryParseV2), which knows every name: "::name key=value,…::data" after
// leading blanks.
func parseV2(line string) (command, bool) {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(line, "::") {
		return command{}, false
	}
	info, data, ok := strings.Cut(line[2:], "::")
	if !ok {
		return command{}, false
	}
	c := command{properties: map[string]string{}, data: unescape(data, "%0D", "\r", "%0A", "\n")}
	name, properties, _ := strings.Cut(info, " ")
	c.name = name
	for p := range strings.SplitSeq(properties, ",") {
		if k, v, ok := strings.Cut(strings.TrimSpace(p), "="); ok {
			c.properties[k] = unescape(v, "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",")
		}
	}
	return c, name != ""
}

func unescape(s string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		s = strings.ReplaceAll(s, pairs[i], pairs[i+1])
	}
	return strings.ReplaceAll(s, "%25", "%")
}

// parseV1 is the runner's second parser (ActionCommand.TryParse): "##[name key=value;…]data" anywhere in a line.
func parseV1(line string) (command, bool) {
	_, rest, ok := strings.Cut(line, "##[")
	if !ok {
		return command{}, false
	}
	info, data, ok := strings.Cut(rest, "]")
	name, _, _ := strings.Cut(info, " ")
	return command{name: name, data: data}, ok && name != ""
}

// commandsIn are the lines that either parser takes for a command, compared byte by byte or not.
func commandsIn(s string) []string {
	var all []string
	for _, line := range runnerLines(s) {
		for _, seen := range []string{line, compared(line)} {
			_, first := parseV2(seen)
			_, second := parseV1(seen)
			if first || second {
				all = append(all, line)
				break
			}
		}
	}
	return all
}

// through is a text as it comes out of Defuse, written in pieces of so many bytes.
func through(t *testing.T, s string, piece int) string {
	t.Helper()
	var out bytes.Buffer
	w := github.NewRunner(environment{}.get, &bytes.Buffer{}).Defuse(&out)
	for rest := s; rest != ""; {
		n := min(piece, len(rest))
		if wrote, err := w.Write([]byte(rest[:n])); err != nil || wrote != n {
			t.Fatalf("wrote %d of %d: %v", wrote, n, err)
		}
		rest = rest[n:]
	}
	return out.String()
}

func TestRelayedTextHoldsNoCommand(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a command":               {"::set-output name=verdict::pass\n", ": :set-output name=verdict::pass\n"},
		"after blanks":            {" \t\u00a0\u2003::error::x\n", " \t\u00a0\u2003: :error::x\n"},
		"after a lone return":     {"abc\r::error::x\r\n", "abc\r: :error::x\r\n"},
		"the old form":            {"log ##[error]x ####[debug]y\n", "log ## [error]x #### [debug]y\n"},
		"split by what is unseen": {"#\u200b#\u00ad[error]x\n\ufeff:\x00:debug::x\n", "## [error]x\n: :debug::x\n"},
		"split by a colour":       {"#\x1b[31m#[error]x\n", "## [error]x\n"},
		"an accent is no blank":   {"é::x::\n", "é::x::\n"},
		"colons elsewhere":        {"std::vector # [1] #[2] a::b\n", "std::vector # [1] #[2] a::b\n"},
		"one colon":               {": x\n:x:\n", ": x\n:x:\n"},
		"no end of a line":        {"::x", ": :x"},
		"no text of Unicode":      {"\xff::x::\xc3(\n", "\ufffd::x::\ufffd(\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for piece := range 5 {
				got := through(t, c.in, piece+1)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", piece+1, diff)
				}
			}
		})
	}
}

func TestTheParsersOfTheTestFindCommands(t *testing.T) {
	want := []string{"::error::a", "  ::add-mask::b", "x ##[debug]c", "#\u200b#[debug]d"}
	if diff := cmp.Diff(want, commandsIn(strings.Join(want, "\n")+"\na::b::c\n##d\n::e")); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func FuzzDefuse(f *testing.F) {
	for _, s := range []string{"::error::x", "##[error]x", " \r\n::a::b##[c]d\x1b[1m", "#\u200d#\ufe0f[x]", "\x85::x::y", "\xe2\x80"} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(7))
	}
	visible := regexp.MustCompile(`[a-zA-Z0-9]`)
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		got := through(t, string(in), int(piece)+1)
		if found := commandsIn(got); len(found) > 0 {
			t.Errorf("commands %q in %q", found, got)
		}
		if got != through(t, string(in), len(in)+1) {
			t.Error("the pieces in which it came make a difference")
		}
		if !utf8.ValidString(got) {
			t.Error("not a text of Unicode")
		}
		if !bytes.ContainsRune(in, '\x1b') {
			keep := strings.Join(visible.FindAllString(string(in), -1), "")
			if kept := strings.Join(visible.FindAllString(got, -1), ""); kept != keep {
				t.Errorf("letters %q became %q", keep, kept)
			}
		}
	})
}
