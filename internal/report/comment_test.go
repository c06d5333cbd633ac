package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/gate"
)

// crowd is a verdict of so many findings: those of the regressed one, over and over, with a pass for every fifth.
func crowd(t testing.TB, n int) gate.Verdict {
	t.Helper()
	v := verdict(t, "testdata/regressed.json")
	one := v.Findings
	v.Findings = nil
	for i := range n {
		f := one[i%len(one)]
		f.Scenario = fmt.Sprintf("scenario-%04d", i/len(one))
		v.Findings = append(v.Findings, f)
	}
	return v
}

func TestCutCommentsAreGolden(t *testing.T) {
	all := verdicts(t)
	for name, got := range map[string]string{
		"regressed-200":   Comment(all["regressed"], 200),
		"regressed-600":   Comment(all["regressed"], 600),
		"many-2000":       Comment(all["many"], 2000),
		"many-10000":      Comment(all["many"], 10_000),
		"hostile-2000":    Comment(all["hostile"], 2000),
		"crowd-8000":      Comment(crowd(t, 5000), 8000),
		"interleaved-3kB": Comment(all["interleaved"], 3000),
	} {
		golden(t, filepath.Join("cut", name+".md"), got)
	}
}

// limits grow by a sixteenth from 600 bytes to 70 kB; twofold where time is short.
func limits() []int {
	var out []int
	step := 16
	if testing.Short() {
		step = 1
	}
	for n := 600; n < 70_000; n += n/step + 1 {
		out = append(out, n)
	}
	return append(out, 70_000)
}

// TestACommentKeepsItsLimitAndWhatMatters: at every limit it is sound, says the verdict and why, and shows all that it showed
// with less room.
func TestACommentKeepsItsLimitAndWhatMatters(t *testing.T) {
	all := verdicts(t)
	all["crowd"] = crowd(t, 500)
	if testing.Short() {
		all["crowd"] = crowd(t, 100)
		for _, name := range []string{"breached", "buffered", "confirm", "drifted", "improved", "incomparable", "interleaved", "invalid", "missing", "network", "new", "observed", "simulated", "waived"} {
			delete(all, name)
		}
	}
	for name, v := range all {
		before := ""
		for _, limit := range limits() {
			got := Comment(v, limit)
			if got == before {
				continue
			}
			if len(got) > limit || utf8.RuneCountInString(got) > mostCharacters {
				t.Errorf("%s at %d has %d bytes, %d characters", name, limit, len(got), utf8.RuneCountInString(got))
			}
			for _, fault := range faults(got) {
				t.Errorf("%s at %d: %s", name, limit, fault)
			}
			if !strings.Contains(got, strings.ToUpper(string(v.Outcome))) || !strings.Contains(flat(got), flat(clean(v.Summary, 40))[:35]) {
				t.Errorf("%s at %d lacks the verdict, or why:\n%s", name, limit, got)
			}
			if gone := vanished(before, got); gone != "" {
				t.Errorf("%s at %d no longer shows %q", name, limit, gone)
			}
			before = got
		}
	}
}

// vanished is a line of the shorter comment that the longer one lacks; one that was cut may go on there.
func vanished(short, long string) string {
	have := map[string]bool{}
	lines := strings.Split(long, "\n")
	for _, line := range lines {
		have[line] = true
	}
	for _, line := range strings.Split(short, "\n") {
		if have[line] || strings.HasPrefix(line, "**Left out") {
			continue
		}
		head := strings.TrimRight(line, "`… ")
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(flat(l), flat(head)) }) {
			return line
		}
	}
	return ""
}

// TestTheWorstStaysLongest: where there is room for little, it is the worst findings and not others.
func TestTheWorstStaysLongest(t *testing.T) {
	v := crowd(t, 5000)
	worst := worstFirst(v.Findings)
	got := Comment(v, 2000)
	for _, f := range worst[:3] {
		if row := "`" + f.Scenario + "` `" + f.Metric + "`"; !strings.Contains(got, row) {
			t.Errorf("no row %s in\n%s", row, got)
		}
	}
	if !strings.Contains(got, "findings, ") || !strings.Contains(got, "report.html") {
		t.Errorf("what was cut, and where it is, is not said:\n%s", got)
	}
}

func TestASmallVerdictIsNotCut(t *testing.T) {
	for name, v := range verdicts(t) {
		if got := Comment(v, mostCharacters); strings.Contains(got, "Left out for length") {
			t.Errorf("%s is cut at %d bytes", name, len(got))
		}
	}
}

func TestAGreenCommentIsAFewLines(t *testing.T) {
	for name, most := range map[string]int{"pass": 2, "improved": 3, "observed": 6} {
		open, depth := 0, 0
		for _, line := range strings.Split(Comment(verdict(t, "testdata/"+name+".json"), mostCharacters), "\n") {
			if strings.HasPrefix(line, "<details>") {
				depth++
			}
			if depth == 0 && line != "" {
				open++
			}
			if line == "</details>" {
				depth--
			}
		}
		if open > most {
			t.Errorf("%s has %d open lines, more than %d", name, open, most)
		}
	}
}

// TestWarningsOfTheVerdictAreSeen: that a change edits the rules it is judged by is such a warning, and no reader of a green
// comment, or of a short one, may miss it.
func TestWarningsOfTheVerdictAreSeen(t *testing.T) {
	for _, name := range []string{"pass", "regressed", "many"} {
		v := verdict(t, "testdata/"+name+".json")
		v.Warnings = []string{"the change edits benchgate.yaml: gate.rules[0].tolerance: 5% → 50%"}
		for _, limit := range []int{2000, mostCharacters} {
			open, _, _ := strings.Cut(Comment(v, limit), "<details>")
			if !strings.Contains(flat(open), flat(v.Warnings[0])) {
				t.Errorf("%s at %d does not show it openly:\n%s", name, limit, open)
			}
		}
	}
}

func TestASummaryHoldsMoreThanAComment(t *testing.T) {
	v := crowd(t, 2500)
	comment, summary := Comment(v, 1<<20), Summary(v, 1_000_000)
	if n := utf8.RuneCountInString(comment); n > mostCharacters || n < mostCharacters*9/10 {
		t.Errorf("the comment has %d characters of %d", n, mostCharacters)
	}
	if n := len(summary); n > 1_000_000 || n < 900_000 {
		t.Errorf("the summary has %d bytes", n)
	}
	if !strings.Contains(comment, "job's summary has more") || strings.Contains(summary, "job's summary has more") {
		t.Error("a comment points at the summary, and a summary not at itself")
	}
}

// TestNoRoomAtAll: even where nothing fits the limit holds.
func TestNoRoomAtAll(t *testing.T) {
	all := verdicts(t)
	for _, name := range []string{"pass", "simulated", "hostile"} {
		v := all[name]
		for _, limit := range []int{-1, 0, 1, 30, 150, 400} {
			got := Comment(v, limit)
			if len(got) > max(0, limit) || !utf8.ValidString(got) {
				t.Errorf("%s at %d: %q", name, limit, got)
			}
			for _, fault := range faults(got) {
				t.Errorf("%s at %d: %s", name, limit, fault)
			}
		}
	}
}

func BenchmarkCommentOf5000Findings(b *testing.B) {
	v := crowd(b, 5000)
	b.ResetTimer()
	for b.Loop() {
		Comment(v, 60_000)
	}
}

func BenchmarkSummaryOf5000Findings(b *testing.B) {
	v := crowd(b, 5000)
	b.ResetTimer()
	for b.Loop() {
		Summary(v, 1_000_000)
	}
}

// TestAFindingOfNoMetricHasNoRow: the sentence of the verdict says it; a row would be empty but for the outcome.
func TestAFindingOfNoMetricHasNoRow(t *testing.T) {
	v := verdicts(t)["pass"].Withheld("A job before this one did not succeed: failure.", "See its log.")
	got := Comment(v, mostCharacters)
	for _, want := range []string{"## ⛔ benchgate: MISSING", "\nA job before this one did not succeed: failure.\n", "See its log.", "| ✅\u00a0pass | `ttft.p95` |", "Scenario: `chat`."} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "| ⛔") {
		t.Errorf("a row says nothing:\n%s", got)
	}
}

// TestBaselinesOfTheWorkingTreeAreNamedByTheirRunner: a folder's name alone would be said twice.
func TestBaselinesOfTheWorkingTreeAreNamedByTheirRunner(t *testing.T) {
	v := verdicts(t)["regressed"]
	held := *v.Baseline // the verdicts are shared
	v.Baseline = &held
	v.Baseline.Ref, v.Baseline.Origin.Commit = "baselines", strings.Repeat("4f2a9c1d", 5)
	if got := opponent(v); !strings.HasPrefix(got, "baselines/h100-1x: 5 sessions") || !strings.Contains(got, "; commit 4f2a9c1,") {
		t.Errorf("compared with %q", got)
	}
	v.Baseline.Ref, v.Baseline.Origin.Commit = "elsewhere", "release 5, built by hand"
	if got := opponent(v); !strings.HasPrefix(got, "baseline elsewhere: 5 sessions") || !strings.Contains(got, "; commit release 5, built by hand,") {
		t.Errorf("compared with %q", got)
	}
	v.At = time.Time{}
	if got := compared(v); !strings.HasPrefix(got, "To be compared with baseline elsewhere: 5 sessions; commit") {
		t.Errorf("where there is no candidate: %q", got)
	}
}
