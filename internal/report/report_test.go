package report

import (
	"bytes"
	"flag"
	"html"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/gate"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// extensions of the golden files, by format.
var extensions = map[string]string{"text": ".txt", "markdown": ".md", "html": ".html"}

// verdicts are those of testdata. Nobody may change what they hold.
func verdicts(t *testing.T) map[string]gate.Verdict {
	t.Helper()
	all := read()
	if len(all) == 0 {
		t.Fatal("the verdicts of testdata cannot be read")
	}
	return maps.Clone(all)
}

// read reads the verdicts of testdata once; none where one of them cannot be read.
var read = sync.OnceValue(func() map[string]gate.Verdict {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		return nil
	}
	out := map[string]gate.Verdict{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		v, err := gate.ReadVerdict(bytes.NewReader(data), file)
		if err != nil {
			return nil
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = v
	}
	return out
})

// pages holds what was rendered of the files of testdata, by format and file: pictures take time.
var pages sync.Map

// rendered is a verdict of testdata in a format.
func rendered(t *testing.T, format, name string, v gate.Verdict) string {
	t.Helper()
	if page, ok := pages.Load(format + name); ok {
		return page.(string)
	}
	page := render(t, format, v)
	pages.Store(format+name, page)
	return page
}

func verdict(t testing.TB, file string) gate.Verdict {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := gate.ReadVerdict(f, file)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func render(t *testing.T, format string, v gate.Verdict) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportsAreGolden(t *testing.T) {
	for name, v := range verdicts(t) {
		for format, extension := range extensions {
			golden(t, name+extension, rendered(t, format, name, v))
		}
	}
}

// golden holds a text against the file of testdata that keeps it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); go test ./internal/report -update writes it anew:\n%s", name, diff)
	}
}

func TestSameVerdictGivesSameBytes(t *testing.T) {
	v := verdict(t, "testdata/regressed.json")
	for _, format := range Formats() {
		first, second := render(t, format, v), render(t, format, v)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s differs from one time to the next:\n%s", format, diff)
		}
	}
}

func TestJSONIsTheVerdict(t *testing.T) {
	for name, v := range verdicts(t) {
		got, err := gate.ReadVerdict(strings.NewReader(render(t, "json", v)), name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnknownFormatNamesTheKnown(t *testing.T) {
	err := Write(&bytes.Buffer{}, "yaml", gate.Verdict{})
	want := `report format "yaml" is none of html, json, markdown, text`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEveryOutcomeHasAVerdictAndALook(t *testing.T) {
	seen := map[gate.Outcome]bool{}
	for _, v := range verdicts(t) {
		for _, f := range v.Findings {
			seen[f.Outcome] = true
		}
	}
	for _, l := range looks {
		if !seen[l.Outcome] {
			t.Errorf("no verdict in testdata has a finding that is %s", l.Outcome)
		}
	}
	for o := range seen {
		if place(o) == len(looks) {
			t.Errorf("%s has no look", o)
		}
	}
}

func TestEveryFindingThatIsNoPassShowsWhatToDoNext(t *testing.T) {
	for name, v := range verdicts(t) {
		if name == "hostile" || name == "many" {
			continue // one is cut, the other is counted, as lists are
		}
		for format := range extensions {
			got := flat(rendered(t, format, name, v))
			for _, f := range v.Findings {
				if f.Outcome != gate.Pass && (f.Next == "" || !strings.Contains(got, flat(f.Next))) {
					t.Errorf("%s as %s does not show what to do about %s %s: %s", name, format, f.Scenario, f.Metric, f.Next)
				}
				if f.Outcome != gate.Pass && !strings.Contains(got, flat(f.Why)) {
					t.Errorf("%s as %s does not show why %s %s is %s: %s", name, format, f.Scenario, f.Metric, f.Outcome, f.Why)
				}
			}
		}
	}
}

// flat is text without what the formats do to spaces and quotes.
func flat(s string) string {
	s = strings.NewReplacer("\u00a0", " ", "`", "", "**", "").Replace(html.UnescapeString(s))
	return strings.Join(strings.Fields(s), " ")
}

func TestTheWordsOfTheVerdictAreShown(t *testing.T) {
	for name, v := range verdicts(t) {
		if name == "hostile" {
			continue
		}
		for format := range extensions {
			got := flat(rendered(t, format, name, v))
			must := append([]string{strings.ToUpper(string(v.Outcome)), v.Summary, v.Bound, v.Runner}, v.Warnings...)
			if v.Simulated {
				must = append(must, saysSimulated)
			}
			if v.DefaultRules {
				must = append(must, saysDefaults)
			}
			for _, d := range v.Environment.Diff {
				must = append(must, d.Name, d.Base, d.Head)
			}
			for _, c := range v.Validity {
				if !c.OK {
					must = append(must, c.Detail)
				}
			}
			for _, w := range v.Waivers {
				must = append(must, w.State, w.Why)
			}
			for _, a := range v.Attempts {
				must = append(must, a.What)
			}
			for _, m := range must {
				if !strings.Contains(got, flat(m)) {
					t.Errorf("%s as %s does not say %q", name, format, m)
				}
			}
		}
	}
}

func TestEveryComparedFindingShowsItsIntervalAndItsRuns(t *testing.T) {
	for name, v := range verdicts(t) {
		if name == "hostile" {
			continue
		}
		for format := range extensions {
			if name == "many" && format == "markdown" {
				continue // a long table is cut, and says so
			}
			got := flat(rendered(t, format, name, v))
			for _, f := range v.Findings {
				if f.Change != nil && (!strings.Contains(got, flat(change(f))) || !strings.Contains(change(f), " to ")) {
					t.Errorf("%s as %s: %s %s is shown without its interval %s", name, format, f.Scenario, f.Metric, change(f))
				}
			}
		}
	}
}

func TestWorstComesFirst(t *testing.T) {
	finding := func(name string, o gate.Outcome, primary bool, worse float64) gate.Finding {
		return gate.Finding{Scenario: name, Outcome: o, Primary: primary, Change: &gate.Change{Worse: worse}}
	}
	in := []gate.Finding{
		finding("8", gate.Pass, true, 0.01), finding("7", gate.Improved, false, -0.2), finding("3", gate.Regressed, false, 0.5),
		finding("5", gate.Inconclusive, true, 0.3), finding("6", gate.Inconclusive, false, 0.9), finding("2", gate.Regressed, true, 0.1),
		{Scenario: "4", Outcome: gate.Missing},
		finding("1", gate.Regressed, true, 0.2),
	}
	var got []string
	for _, f := range worstFirst(in) {
		got = append(got, f.Scenario)
	}
	if diff := cmp.Diff([]string{"1", "2", "3", "4", "5", "6", "7", "8"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if in[0].Scenario != "8" {
		t.Error("the verdict's own order was changed")
	}
}

func TestEmptyVerdictRenders(t *testing.T) {
	v := gate.Verdict{Outcome: gate.Invalid, ExitCode: 3, Summary: "There was nothing to decide: no scenario and no rule."}
	for _, format := range Formats() {
		if got := render(t, format, v); !strings.Contains(got, "nothing to decide") {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// TestABaselineIsNotOlderThanNothing: where no candidate was measured nothing is said of how old the baseline is beside it.
func TestABaselineIsNotOlderThanNothing(t *testing.T) {
	v := verdict(t, "testdata/missing.json")
	v.At = time.Time{}
	if got := rendered(t, "text", "missing, without a candidate", v); strings.Contains(got, "than the candidate") || !strings.Contains(got, "baselines/h100-1x at 4f2a9c1: ") {
		t.Error(got)
	}
}
