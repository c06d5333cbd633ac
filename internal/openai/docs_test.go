package openai

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

const wireDoc = "../../docs/wire.md"

const wireHead = `# What a server can send

<!-- Written by internal/openai from testdata/wire; run make schema. -->

Every line is a kind of answer that a server can give. The last column but one is what benchgate makes of it, and is written
from the same files that its tests play: each answer whole, byte by byte, and cut at every byte; those with times in virtual
time. ` + "`benchgate sim --fault NAME`" + ` is a server that answers so.

The columns of other tools say what was read in the sources of these versions: vllm bench serve 0.33.0, guidellm 0.8.1,
aiperf 0.13.0, sglang.bench_serving 0.5.23, inference-perf 0.7.0. They were not run against these files, and a later
version may differ. What was not read is "not known": that is no verdict. "Success" says that the tool counts the request
as one that succeeded, "read" that it takes the answer as benchgate does. Kinds of which nothing was read in any of them stand
in a table of their own.

A failed request has one class, given here in code letters. It stays in every denominator, in ` + "`error.ratio`" + `, and in no
latency. When all requests fail the verdict is invalid, exit code 3; vllm bench serve then reports zeros and exits 0.
`

// groups are the parts of the document in their order, with their titles.
var groups = []struct{ name, title string }{
	{"framing", "How events are framed"},
	{"order", "In which order chunks come"},
	{"content", "What chunks hold"},
	{"counts", "Counts and lengths"},
	{"errors", "Errors inside a stream"},
	{"end", "How a stream ends"},
	{"refusals", "Answers that are no stream"},
	{"time", "When it comes"},
	{"server", "What else a server may be like"},
}

var peers = []string{"vllm", "guidellm", "aiperf", "sglang", "inference-perf"}

// line is one line of a table: the cases of one kind.
type line struct {
	row   string
	cases []wireCase
}

func linesOf(all []wireCase, group string) []line {
	var lines []line
	for _, w := range all {
		if w.Group != group {
			continue
		}
		i := slices.IndexFunc(lines, func(l line) bool { return l.row == w.row() })
		if i < 0 {
			lines, i = append(lines, line{row: w.row()}), len(lines)
		}
		lines[i].cases = append(lines[i].cases, w)
	}
	// What is known of others comes first.
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(len(b.peers()), len(a.peers())), cmp.Compare(a.row, b.row))
	})
	return lines
}

func (l line) peers() map[string]string {
	for _, w := range l.cases {
		if len(w.Peers) > 0 {
			return w.Peers
		}
	}
	return nil
}

func (l line) cells() []string {
	cells := []string{l.row}
	for _, p := range peers {
		cells = append(cells, cmp.Or(l.peers()[p], "not known"))
	}
	var ours, faults []string
	for _, w := range l.cases {
		if s := w.Want.say(w.Group == "time"); !slices.Contains(ours, s) {
			ours = append(ours, s)
		}
		if w.Fault != "" {
			faults = append(faults, "`"+named(w.Fault)+"`")
		}
	}
	return append(cells, strings.Join(ours, "; "), strings.Join(faults, " "))
}

// say is an outcome in a few words, with its times where the case is about them.
func (o outcome) say(timed bool) string {
	if o.Class != bench.OK {
		return "`" + string(o.Class) + "`"
	}
	text := "read"
	if o.TokenSource == fromChunks {
		text = "read, chunks counted"
	}
	if o.Times == nil || !timed {
		return text
	}
	for _, t := range []struct {
		name  string
		value *float64
	}{{"ttft", o.Times.TTFT}, {"ttfot", o.Times.TTFOT}, {"tpot", o.Times.TPOT}, {"e2el", o.Times.E2EL}} {
		switch {
		case t.value == nil:
			text += fmt.Sprintf(", no %s", t.name)
		case t.name != "ttfot" || *t.value != *o.Times.TTFT:
			text += fmt.Sprintf(", %s %.5g ms", t.name, *t.value)
		}
	}
	return text
}

func wireMarkdown(all []wireCase) string {
	var b strings.Builder
	b.WriteString(wireHead)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n", g.title)
		var known, unknown [][]string
		for _, l := range linesOf(all, g.name) {
			c := l.cells()
			if len(l.peers()) > 0 {
				known = append(known, c)
			} else {
				unknown = append(unknown, []string{c[0], c[6], c[7]})
			}
		}
		table(&b, []string{"answer", "vllm", "guidellm", "aiperf", "sglang", "inference-perf", "benchgate", "`--fault`"}, known)
		table(&b, []string{"answer, of which the others are not known", "benchgate", "`--fault`"}, unknown)
	}
	return b.String()
}

func table(b *strings.Builder, head []string, lines [][]string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, l := range lines {
		fmt.Fprintf(b, "| %s |\n", strings.Join(l, " | "))
	}
}

// docs/wire.md is written from the cases: go test ./internal/openai -run Docs -update.
func TestDocsOfTheWireAreThoseOfTheCases(t *testing.T) {
	made := wireMarkdown(cases(t))
	if *update {
		if err := os.WriteFile(wireDoc, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(wireDoc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(file), made); diff != "" {
		t.Errorf("docs/wire.md is not current; run: make schema\n(-file +made):\n%s", diff)
	}
}

func TestEveryCaseHasItsPlaceInTheDocs(t *testing.T) {
	known := map[string]bool{}
	for _, g := range groups {
		known[g.name] = true
	}
	group, told := map[string]string{}, map[string]string{}
	for _, w := range cases(t) {
		switch {
		case !known[w.Group]:
			t.Errorf("%s: group %q", w.name, w.Group)
		case group[w.row()] != "" && group[w.row()] != w.Group:
			t.Errorf("%s: the row %q stands in two groups", w.name, w.row())
		case len(w.Peers) > 0 && told[w.row()] != "":
			t.Errorf("%s and %s both tell the peers of %q", w.name, told[w.row()], w.row())
		case strings.ContainsAny(w.row(), "|\n"):
			t.Errorf("%s: the row %q breaks the table", w.name, w.row())
		}
		group[w.row()] = w.Group
		if len(w.Peers) > 0 {
			told[w.row()] = w.name
		}
		for p := range w.Peers {
			if !slices.Contains(peers, p) {
				t.Errorf("%s: peer %q", w.name, p)
			}
		}
	}
}
