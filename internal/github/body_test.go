package github

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var headHash = strings.Repeat("1", 40)

func postOf(sections ...Section) Post {
	return Post{Job: Job{RunID: 42, RunAttempt: 1, Pull: &Pull{Number: 7, HeadSHA: headHash}}, Key: "gate", Sections: sections}
}

func says(name string, rank int, text string) Section {
	return Section{Name: name, Rank: rank, Render: func(int) string { return text }}
}

// parts are the sections of a body as "name run/attempt: text".
func parts(body string) []string {
	var all []string
	for _, s := range sectionsOf(body) {
		all = append(all, fmt.Sprintf("%s %d/%d %d: %s", s.name, s.run, s.attempt, s.rank, s.text))
	}
	return all
}

func TestSectionsStandByRankAndThenByName(t *testing.T) {
	others := []section{
		{mark: mark{headHash, 41, 3}, name: "a100", rank: 2, text: "waits"},
		{mark: mark{headHash, 42, 2}, name: "b200", rank: 0, text: "worst"},
	}
	body := postOf(says("m4", 2, "fine"), says("h100", 1, "slower\r\nby half\n\n")).compose(others, commentBytes)
	want := []string{"b200 42/2 0: worst", "h100 42/1 1: slower\nby half", "a100 41/3 2: waits", "m4 42/1 2: fine"}
	if diff := cmp.Diff(want, parts(body)); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	if got, ok := markOf(body, "gate"); !ok || got != (mark{headHash, 42, 2}) {
		t.Errorf("the comment is marked %+v, %v: its newest section is of attempt 2", got, ok)
	}
}

func TestACommentIsReadAsItWasWritten(t *testing.T) {
	end := "<!-- benchgate-end:h100 -->"
	for name, text := range map[string]string{
		"empty":                    "",
		"a table":                  "| a | b |\n|---|---|\n| 1 | 2 |",
		"an end of its own":        "x\n" + end + "\ny",
		"another section":          "x\n" + section{mark: mark{headHash, 99, 1}, name: "z", text: "y"}.String(),
		"the marker of a comment":  "<!-- benchgate:gate head=" + headHash + " run=99 attempt=1 -->",
		"only the start of a line": "<!-- benchgate",
	} {
		t.Run(name, func(t *testing.T) {
			body := postOf(says("h100", 0, text)).compose(nil, commentBytes)
			got := sectionsOf(strings.ReplaceAll(body, "\n", "\r\n"))
			if len(got) != 1 || got[0].text != strings.ReplaceAll(text, "<!-- benchgate", "&lt;!-- benchgate") {
				t.Errorf("read as %+v", got)
			}
		})
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a--b", "a-_2db")
	f.Add("x | y <!-- -->", "-->")
	f.Add("", "_")
	f.Fuzz(func(t *testing.T, a, b string) {
		name := safeName(a)
		if got := plainName(name); got != a && len(name) < nameBytes-3 { // no name that had to be cut
			t.Errorf("%q became %q, and that %q", a, name, got)
		}
		if strings.Contains(name, "--") || strings.ContainsAny(name, "<> \r\n") || name == "" || len(name) > nameBytes {
			t.Errorf("%q became %q", a, name)
		}
		if (a == b) != (name == safeName(b)) {
			t.Errorf("%q and %q became %q and %q", a, b, name, safeName(b))
		}
	})
}

func FuzzSectionsAreReadAsTheyWereWritten(f *testing.F) {
	f.Add("h100", "text", "a b", "other\n<!-- benchgate-end:h100 -->")
	f.Add("x | y <!-- -->", "\r\n-->\r", "--", "<!-- benchgate-section:z")
	f.Fuzz(func(t *testing.T, first, text, second, more string) {
		if safeName(first) == safeName(second) || len(text)+len(more) > 20_000 {
			return
		}
		body := postOf(says(first, 1, text), says(second, 2, more)).compose(nil, commentBytes)
		got := sectionsOf(body)
		want := []section{
			{mark: mark{headHash, 42, 1}, name: safeName(first), rank: 1, text: inert(text)},
			{mark: mark{headHash, 42, 1}, name: safeName(second), rank: 2, text: inert(more)},
		}
		if m, ok := markOf(body, "gate"); !ok || !composed(body, m) || !composed(strings.ReplaceAll(strings.TrimSpace(body), "\n", "\r\n"), m) {
			t.Errorf("not taken for ours: %q", body)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(section{}, mark{})); diff != "" {
			t.Errorf("sections (-want +got):\n%s", diff)
		}
	})
}

func TestNamesInMarkersEndNoCommentAndStayApart(t *testing.T) {
	for name, want := range map[string]string{
		"h100-1x":        "h100-1x",
		"a--b":           "a-_2db",
		"x | y <!-- -->": "x_20_7c_20y_20_3c_21-_2d_20-_2d_3e",
		"$(id)":          "_24_28id_29",
		"line\nend":      "line_0aend",
		"ü":              "_c3_bc",
		"_20":            "_5f20",
		"":               "_",
	} {
		got := safeName(name)
		if got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
	long, longer := safeName(strings.Repeat("a", 300)), safeName(strings.Repeat("a", 301))
	if long == longer || len(long) > nameBytes {
		t.Errorf("two long names became %q and %q", long, longer)
	}
}

func TestOnlyTheFirstLineMarksAComment(t *testing.T) {
	good := "<!-- benchgate:gate head=" + headHash + " run=42 attempt=1 -->"
	for body, want := range map[string]bool{
		good:                      true,
		good + "\nx":              true,
		good + "\r\nx":            true,
		" " + good:                false,
		"\n" + good:               false,
		"> " + good:               false,
		good + " x":               false,
		"":                        false,
		strings.ToUpper(good):     false,
		good[:len(good)-1]:        false,
		"<!-- benchgate:gate -->": false,
		strings.Replace(good, "gate h", "other h", 1):                 false,
		strings.Replace(good, "run=42", "run=-42", 1):                 false,
		strings.Replace(good, "run=42", "run=9999999999999999999", 1): false,
		strings.Replace(good, headHash, "main", 1):                    false,
	} {
		if _, ok := markOf(body, "gate"); ok != want {
			t.Errorf("%q: marked %v", body, ok)
		}
	}
}

func TestAForeignCommentIsNotBuiltAsOurs(t *testing.T) {
	mine := postOf(says("h100", 1, "x\n\ny")).compose([]section{{mark: mark{headHash, 41, 1}, name: "m4", text: "z"}}, commentBytes)
	many := postOf(slices.Repeat([]Section{says("h100", 0, strings.Repeat("x", 3000))}, 40)...).compose(nil, commentShort)
	m, _ := markOf(mine, "gate")
	first, rest, _ := strings.Cut(mine, "\n")
	for body, want := range map[string]bool{
		mine:                                   true,
		strings.ReplaceAll(mine, "\n", "\r\n"): true,
		strings.TrimSpace(mine):                true,
		many:                                   true,
		first:                                  false,
		first + "\n":                           false,
		first + "\n\n" + rest:                  false,
		first + "\nwelcome\n" + rest:           false,
		mine + "welcome":                       false,
		mine + "\nwelcome":                     false,
		mine + "\nwelcome\n\n" + rest:          false,
		mine[:len(mine)-5]:                     false,
		strings.Replace(mine, "\n\n<!--", "\n<!--", 1):                             false,
		strings.Replace(mine, "benchgate:gate", "benchgate:other", 1):              true,
		strings.Replace(mine, "run=42 attempt=1 rank", "run=43 attempt=1 rank", 1): false,
		strings.Replace(mine, "run=42 attempt=1 rank", "run=41 attempt=1 rank", 1): false,
		first + "\n*And 3 more: the summary of this job has them.*\n":              false,
	} {
		if composed(body, m) != want {
			t.Errorf("built as ours: %v\n%s", !want, body)
		}
	}
}

func TestOnlyABotIsABot(t *testing.T) {
	for _, c := range []struct {
		token, login string
		bot, own     bool
	}{
		{"github-actions[bot]", "github-actions[bot]", true, true},
		{"github-actions[bot]", "github-actions[bot]", false, false},
		{"maintainer", "Maintainer", false, true},
		{"maintainer", "maintainer", true, false},
		{"maintainer", "maintainer2", false, false},
		{"", "", false, false},
	} {
		client := Client{login: c.token}
		if own := client.wrote(note{login: c.login, bot: c.bot}); own != c.own {
			t.Errorf("%q takes a comment of %q (bot: %v) for its own: %v", c.token, c.login, c.bot, own)
		}
	}
}

func TestACommentKeepsWithinItsBytes(t *testing.T) {
	long := strings.Repeat("é", 60_000)
	mine := func(n int) []Section {
		var all []Section
		for i := range n {
			all = append(all, says(fmt.Sprintf("runner-%03d", i), i, fmt.Sprintf("verdict %d ", i)+long))
		}
		return all
	}
	theirs := func(n, size int) []section {
		var all []section
		for i := range n {
			all = append(all, section{mark: mark{headHash, 41, 1}, name: fmt.Sprint("other-", i), rank: 500, text: strings.Repeat("y", size)})
		}
		return all
	}
	for name, c := range map[string]struct {
		own, others, size, limit int
		shown                    int // own sections
		most                     int
	}{
		"one":                     {1, 0, 0, commentBytes, 1, commentBytes},
		"fifty":                   {50, 0, 0, commentBytes, 50, commentBytes},
		"one beside a long one":   {1, 1, 59_000, commentBytes, 1, commentBytes},
		"three beside many":       {3, 10, 5_000, commentBytes, 3, commentBytes},
		"more than there is room": {400, 0, 0, commentBytes, 173, commentBytes},
		"one, in short":           {1, 0, 0, commentShort, 1, commentShort},
		"one of many, in short":   {1, 5, 10_000, commentShort, 1, 2 * commentShort},
	} {
		t.Run(name, func(t *testing.T) {
			p := postOf(mine(c.own)...)
			body := p.compose(theirs(c.others, c.size), c.limit)
			if len(body) > c.most || !utf8.ValidString(body) {
				t.Errorf("%d bytes, at most %d; valid %v", len(body), c.most, utf8.ValidString(body))
			}
			shown := strings.Count(body, "verdict ")
			if shown != c.shown {
				t.Errorf("%d sections of ours, want %d", shown, c.shown)
			}
			if left := c.own - shown; left > 0 && !strings.Contains(body, fmt.Sprintf("And %d more", left)) {
				t.Errorf("%d sections left out unsaid", left)
			}
			if !strings.Contains(body, "verdict 0 ") {
				t.Error("the worst is not there")
			}
			if got := len(sectionsOf(body)); got != shown+c.others {
				t.Errorf("%d sections in all", got)
			}
		})
	}
}

func TestATokenIsTakenOutBeforeATextIsCut(t *testing.T) {
	c := Client{token: "ghs_secret"}
	for _, before := range []int{0, 190, 195, 199, 990, 995, 999} {
		text := strings.Repeat("x", before) + c.token + "\n" + c.token[:5] + "\x00" + c.token[5:]
		for _, said := range []string{c.redact(text), c.failure(fmt.Errorf("%w: %s", errAnswer, text)).said} {
			if strings.Contains(said, "ghs_") || strings.ContainsAny(said, "\n\x00") {
				t.Errorf("after %d letters: %q", before, said)
			}
		}
	}
}
