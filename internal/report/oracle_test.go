package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/benchgate/benchgate/internal/gate"
)

// gfm reads markdown as GitHub does: tables, bare addresses that become links, struck-out text, task lists.
var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

// harmless are the nodes that a comment of ours consists of. Links, images, tasks, footnotes and rules are none of them.
var harmless = map[ast.NodeKind]bool{
	ast.KindDocument: true, ast.KindHeading: true, ast.KindParagraph: true, ast.KindTextBlock: true, ast.KindText: true, ast.KindString: true,
	ast.KindCodeSpan: true, ast.KindFencedCodeBlock: true, ast.KindList: true, ast.KindListItem: true, ast.KindEmphasis: true, ast.KindBlockquote: true,
	ast.KindHTMLBlock: true, extast.KindTable: true, extast.KindTableHeader: true, extast.KindTableRow: true, extast.KindTableCell: true,
}

var (
	// ourTags is all the HTML that a comment has.
	ourTags = regexp.MustCompile(`^(<details><summary>[^<>&@#]*</summary>|</details>)\n?$`)
	// ourBold is all that is bold: the words of this package, and a change.
	ourBold = regexp.MustCompile(`^(Next:|What to do next|Warnings|Simulated\.|Left out for length:|[−0-9.]+ (%|points) \pL+)$`)
	// alive is text that GitHub makes more of than text: mentions, references to issues and commits, addresses, mathematics.
	alive = regexp.MustCompile(`@|#\d|(?i:\bgh-\d)|://|(?i:www\.)|[<>$]|:[a-z+-]|\b[0-9a-fA-F]{7,40}\b`)
)

// faults are the places at which a comment is more, or less, than what this package means to say.
func faults(comment string) []string {
	source := []byte(comment)
	var out []string
	depth := 0
	columns := 0
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if !harmless[n.Kind()] {
			out = append(out, "a "+n.Kind().String())
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(source))
			if !ourTags.MatchString(html) {
				out = append(out, fmt.Sprintf("foreign HTML %q", html))
			}
			depth += strings.Count(html, "<details>") - strings.Count(html, "</details>")
			if depth < 0 || depth > 1 {
				out = append(out, fmt.Sprintf("%d open folds", depth))
			}
		case *ast.Text:
			if _, coded := n.Parent().(*ast.CodeSpan); !coded {
				if found := alive.FindString(string(n.Value(source))); found != "" {
					out = append(out, fmt.Sprintf("%q in the text %q", found, n.Value(source)))
				}
			}
		case *ast.Emphasis:
			if bold := textOf(n, source); n.Level != 2 || !ourBold.MatchString(strings.ReplaceAll(bold, "\u00a0", " ")) {
				out = append(out, fmt.Sprintf("foreign emphasis %q", bold))
			}
		case *ast.FencedCodeBlock:
			if n.Info == nil || string(n.Info.Value(source)) != "text" {
				out = append(out, "a foreign fence")
			}
			if v := string(n.Lines().Value(source)); !strings.Contains(v, "no change") {
				out = append(out, fmt.Sprintf("a drawing without its end %q", v))
			}
		case *extast.TableHeader:
			columns = n.ChildCount()
		case *extast.TableRow:
			if n.ChildCount() != columns {
				out = append(out, fmt.Sprintf("a row of %d cells, not %d", n.ChildCount(), columns))
			}
		}
		return ast.WalkContinue, nil
	})
	if depth != 0 {
		out = append(out, fmt.Sprintf("%d folds are not closed", depth))
	}
	for _, line := range strings.Split(comment, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Count(line, "|")-strings.Count(line, `\|`) < 2 || strings.HasPrefix(strings.TrimSpace(line), "::") {
			out = append(out, fmt.Sprintf("the line %q", line))
		}
	}
	return out
}

// textOf is the text below a node.
func textOf(n ast.Node, source []byte) string {
	s := ""
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			s += string(t.Value(source))
		} else {
			s += textOf(c, source)
		}
	}
	return s
}

func TestTheOracleFindsWhatItShould(t *testing.T) {
	for _, bad := range []string{
		"hello @octo", "see #12", "![a](b)", "[a](b)", "<b>x</b>", "a <!-- b -->", "http://example.org", "www.example.org", "- [ ] task", "~~gone~~",
		"x[^1]\n\n[^1]: y", "*foreign*", "commit deadbeef0123", "GH-3", "<details>\n\n", "</details>\n", "```sh\nx\n```", "---", "    code", "$x$", "a :smile: b",
		"| a | b |\n|---|---|\n| 1 |\n\n::error::x",
	} {
		if len(faults(bad)) == 0 {
			t.Errorf("%q is not found", bad)
		}
	}
}

func TestMarkdownIsNothingButOurs(t *testing.T) {
	for name, v := range verdicts(t) {
		for _, fault := range faults(rendered(t, "markdown", name, v)) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// FuzzComment puts foreign text wherever a verdict can have it.
func FuzzComment(f *testing.F) {
	for _, s := range []string{
		"chat", "x | y <!-- -->", "@everyone `x`", "```\n</details>", "<details><summary>", "[a](b)", "![a][b]", "[b]: http://x", "www.x.y", "a\\|b\\", "`|`",
		"1. x", "- x", "\u202ex", "org/repo#1", "::error::x", "##[error]x", "deadbeef0123", "*a* _b_ ~~c~~", "a\\`b`", "`` ` ``", "\"quoted `x` | y\"", "&lt;b&gt;", "$x$",
	} {
		f.Add(s, s, 700)
		f.Add("chat", s, 60_000)
		f.Add(s, "why", 3000)
	}
	v := verdict(f, "testdata/regressed.json")
	f.Fuzz(func(t *testing.T, name, sentence string, limit int) {
		for _, fault := range faults(Comment(foreign(v, name, sentence), limit)) {
			t.Errorf("%q, %q at %d: %s", name, sentence, limit, fault)
		}
	})
}

// foreign is a verdict with these words in place of every one of a stranger.
func foreign(v gate.Verdict, name, sentence string) gate.Verdict {
	v.Runner, v.Summary, v.Bound, v.Warnings = name, name+": "+sentence, sentence, []string{sentence, name}
	v.Findings = append([]gate.Finding(nil), v.Findings...)
	for i := range v.Findings {
		f := &v.Findings[i]
		f.Scenario, f.Why, f.Next, f.Warnings, f.Rule.File, f.Seed, f.Method, f.Look, f.Further = name, sentence, sentence, []string{sentence}, name, name, sentence, name, sentence
		if i > 0 {
			f.Metric, f.Outcome = name, gate.Outcome(name)
		}
	}
	v.Validity = []gate.Check{{Scenario: name, Side: name, Name: sentence, Detail: sentence}}
	v.Server = []gate.Account{{Scenario: name, Side: name, Runs: 5, Source: sentence, TTFTFrom: name, Gap: new(float64), Counters: sentence, ChunkTokens: 3}}
	v.Client = []gate.Health{{Scenario: name, Side: name, Runs: 5, Topology: sentence}}
	v.Environment.Diff = []gate.Fact{{Scenario: name, Name: sentence, Base: sentence, Head: name}}
	v.Baseline = &gate.Baseline{Ref: name, Sessions: 5, Origin: gate.Origin{Commit: name, Engine: sentence, Who: name, Why: sentence}, SinceEpoch: sentence}
	v.Attempts = []gate.Attempt{{At: time.Unix(0, 0), What: sentence}}
	v.Waivers = []gate.WaiverUse{{Waiver: gate.Waiver{Metric: name, Scenario: name, Why: sentence, Until: time.Unix(0, 0)}, State: name}}
	return v
}
