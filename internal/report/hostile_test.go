package report

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/benchgate/benchgate/internal/gate"
)

func TestTextKeepsItsWidth(t *testing.T) {
	for name, v := range verdicts(t) {
		for i, line := range strings.Split(rendered(t, "text", name, v), "\n") {
			if n := len([]rune(line)); n > columns {
				t.Errorf("%s, line %d has %d columns: %s", name, i+1, n, line)
			}
		}
	}
}

func TestNoFormatCarriesControlCharacters(t *testing.T) {
	for name, v := range verdicts(t) {
		for format := range extensions {
			for _, r := range rendered(t, format, name, v) {
				if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
					t.Fatalf("%s as %s carries %U", name, format, r)
				}
			}
		}
	}
}

// TestLogReadersFindNoCommand looks for what the runner's two parsers look for: two colons that begin a line, and ##[ anywhere.
func TestLogReadersFindNoCommand(t *testing.T) {
	for name, v := range verdicts(t) {
		for format := range extensions {
			for _, line := range strings.Split(rendered(t, format, name, v), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
					t.Errorf("%s as %s obeys: %s", name, format, line)
				}
			}
		}
	}
}

// fenced is a block of code.
var fenced = regexp.MustCompile("(?ms)^`{3,}text\n.*?^`{3,}\n")

// uncoded is a line of markdown without code spans and the tags that this package writes.
func uncoded(s string) string {
	s = strings.NewReplacer("<details><summary>", "", "</summary>", "", "</details>", "", "&lt;", "").Replace(s)
	var b strings.Builder
	for {
		at, n := fenceAt(s, 0)
		if n == 0 {
			return b.String() + s
		}
		b.WriteString(s[:at])
		s = s[at+n:]
		for from := 0; ; {
			end, m := fenceAt(s, from)
			if m == 0 {
				b.WriteString("`")
				break
			}
			if m == n {
				s = s[end+m:]
				break
			}
			from = end + m
		}
	}
}

// fenceAt is the place and the length of the first row of backticks.
func fenceAt(s string, from int) (at, n int) {
	i := strings.IndexByte(s[from:], '`')
	if i < 0 {
		return 0, 0
	}
	at = from + i
	return at, len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
}

func TestMarkdownHasNothingForeignOutsideCode(t *testing.T) {
	bad := regexp.MustCompile(`@|<|\]\(|!\[|://|www\.|#\d|\bGH-\d|\[.*\]:|[*_]{1}evil`)
	for name, v := range verdicts(t) {
		for _, line := range strings.Split(fenced.ReplaceAllString(rendered(t, "markdown", name, v), ""), "\n") {
			if found := bad.FindString(uncoded(line)); found != "" {
				t.Errorf("%s: %q stands outside code: %s", name, found, line)
			}
		}
	}
}

func TestMarkdownTablesKeepTheirColumns(t *testing.T) {
	for name, v := range verdicts(t) {
		want := 0
		for _, line := range strings.Split(rendered(t, "markdown", name, v), "\n") {
			if !strings.HasPrefix(line, "|") {
				want = 0
				continue
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if want == 0 {
				want = n
			}
			if n != want {
				t.Errorf("%s: %d bars, not %d: %s", name, n, want, line)
			}
		}
	}
}

// TestPageHoldsOnlyItsOwnTags reads the page as a browser would at its strictest: it is well-formed, and no element or
// attribute is there that the page does not write itself.
func TestPageHoldsOnlyItsOwnTags(t *testing.T) {
	forbidden := map[string]bool{"script": true, "img": true, "iframe": true, "link": true, "object": true, "a": true, "foreignObject": true, "image": true, "use": true, "base": true, "form": true}
	for name, v := range verdicts(t) {
		page := strings.Replace(rendered(t, "html", name, v), "<!DOCTYPE html>", "", 1)
		page = regexp.MustCompile(`<meta [^>]*>`).ReplaceAllString(page, "")
		page = strings.ReplaceAll(page, "<details open>", `<details open="">`)
		d := xml.NewDecoder(strings.NewReader(page))
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if forbidden[start.Name.Local] {
				t.Errorf("%s has a %s", name, start.Name.Local)
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "src" || strings.Contains(a.Value, "url(") {
					t.Errorf("%s has %s=%q", name, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func TestPicturesAreNamedAndServeBothColourSchemes(t *testing.T) {
	colour := regexp.MustCompile(`(rgba?\([^)]*\)|#[0-9a-f]{6}\b|(fill|stroke):(black|white))`)
	for name, v := range verdicts(t) {
		for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(rendered(t, "html", name, v), -1) {
			if !strings.HasPrefix(svg, `<svg role="img" `) || !strings.Contains(svg, "><title>") || !strings.Contains(svg, "</title><desc>") {
				t.Errorf("%s: a picture without title or description: %.200s", name, svg)
			}
			if fixed := colour.FindString(svg); fixed != "" {
				t.Errorf("%s: a picture with the colour %s in light and dark alike", name, fixed)
			}
		}
	}
}

func TestCleanLeavesOneLine(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain", "plain"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"},
		{"cut \x1b[", "cut"},
		{"a\r\nb\tc\x00d\u0085e", "a b c d e"},
		{"\u202eabc\u202c\u200b\ufeff", "abc"},
		{"##[error]x", "# #[error]x"},
		{"bad \xff byte", "bad � byte"},
		{"12345678901", "123456789…"},
		{"äöüäöüäöüä", "äöüäöüäöüä"},
	} {
		if got := clean(test.in, 12); len([]rune(test.in)) < 11 && got != test.want {
			t.Errorf("clean %q is %q, want %q", test.in, got, test.want)
		}
	}
	if got := clean("12345678901", 10); got != "123456789…" {
		t.Errorf("got %q", got)
	}
}

func FuzzMarkdownSentence(f *testing.F) {
	for _, s := range []string{"x | y <!-- -->", "@everyone", "`@a`", `say "a \" @b" c`, "``@a```", "a` @b", "\"`\" @x", "1. x", "www.x.y", "org/repo#1", "\\`@a"} {
		f.Add(s)
	}
	bad := regexp.MustCompile(`@|<|\]\(|://|#`)
	f.Fuzz(func(t *testing.T, s string) {
		if found := bad.FindString(uncoded("x " + inline(prose(s)))); found != "" {
			t.Errorf("%q of %q stands outside code: %s", found, s, inline(prose(s)))
		}
	})
}

func FuzzFinding(f *testing.F) {
	v := gate.Verdict{Outcome: gate.Regressed, ExitCode: 1}
	f.Add("chat", "ttft.p95", "why", 0.3, 0.1, 0.5)
	f.Add("\x1b[1m| @a", "`", "::error::", -0.5, -2.0, 1e9)
	f.Add("", "", "", 0.0, 0.0, 0.0)
	f.Fuzz(func(t *testing.T, scenario, metric, why string, worse, low, high float64) {
		v.Findings = []gate.Finding{{
			Scenario: scenario, Metric: metric, Unit: "s", Better: "lower", Outcome: gate.Regressed, Why: why, Next: why,
			Base: &gate.Side{Point: 1, NRuns: 5}, Head: &gate.Side{Point: 1 + worse, NRuns: 5},
			Change: &gate.Change{Worse: worse, WorseLow: low, WorseHigh: high, Level: 0.95, PHolm: 0.01},
		}}
		for format := range extensions {
			if err := Write(io.Discard, format, v); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range strings.Split(render(t, "text", v), "\n") {
			if len([]rune(line)) > columns {
				t.Errorf("too wide: %q", line)
			}
		}
	})
}
