package github_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

// stage is a runner whose files are in a folder of the test.
func stage(t *testing.T) (r *github.Runner, env environment, log *strings.Builder) {
	t.Helper()
	dir := t.TempDir()
	env = environment{"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary")}
	log = &strings.Builder{}
	return github.NewRunner(env.get, log), env, log
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// outputsOf reads an output file as the runner does: "name=value", or "name<<line", the value, and that line again.
func outputsOf(content string) (map[string]string, error) {
	all := map[string]string{}
	lines := strings.SplitAfter(content, "\n")
	for i := 0; i < len(lines) && lines[i] != ""; i++ {
		line := strings.TrimRight(lines[i], "\r\n")
		name, end, heredoc := strings.Cut(line, "<<")
		if at := strings.Index(line, "="); at >= 0 && (!heredoc || at < len(name)) {
			all[line[:at]] = line[at+1:]
			continue
		}
		if !heredoc {
			return all, fmt.Errorf("line %q sets nothing", line)
		}
		var value strings.Builder
		for i++; ; i++ {
			if i >= len(lines) || lines[i] == "" {
				return all, fmt.Errorf("output %q has no end", name)
			}
			if strings.TrimRight(lines[i], "\r\n") == end {
				break
			}
			value.WriteString(lines[i])
		}
		all[name] = strings.TrimSuffix(value.String(), "\n")
	}
	return all, nil
}

func TestAnOutputHoldsItsValueAndSetsNoOther(t *testing.T) {
	hostile := "pass\n_GitHubActionsFileCommandDelimeter_\nexit-code=0\nverdict<<x\nregressed\nx\n"
	r, env, log := stage(t)
	want := map[string]string{"verdict": "regressed", "exit-code": "1", "report": hostile, "empty": "", "lines": "a\r\nb\rc", "unicode": "größer ✓"}
	for _, name := range []string{"verdict", "exit-code", "report", "empty", "lines", "unicode"} {
		if err := r.Output(name, want[name]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := outputsOf(read(t, env["GITHUB_OUTPUT"]))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	if log.Len() > 0 {
		t.Errorf("printed %q", log)
	}
	lines := regexp.MustCompile(`<<(\S+)`).FindAllStringSubmatch(strings.ReplaceAll(read(t, env["GITHUB_OUTPUT"]), hostile, ""), -1)
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l[1]] = true
	}
	if len(lines) != len(want) || len(seen) != len(want) {
		t.Errorf("%d delimiters, %d of them different, for %d outputs", len(lines), len(seen), len(want))
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("pass")
	f.Add("a\nverdict=pass\n")
	f.Add("benchgate_00000000000000000000000000000000")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, value string) {
		path := write(t, filepath.Join(dir, "output"), "")
		r := github.NewRunner(environment{"GITHUB_OUTPUT": path}.get, &strings.Builder{})
		if err := r.Output("report", value); err != nil {
			t.Fatal(err)
		}
		got, err := outputsOf(read(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"report": value}, got); diff != "" {
			t.Errorf("outputs (-want +got):\n%s", diff)
		}
	})
}

func TestAnOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ file, output, value, want string }{
		"no file":       {"", "verdict", "pass", "GITHUB_OUTPUT is not set"},
		"a folder":      {dir, "verdict", "pass", "is a directory"},
		"a bad name":    {filepath.Join(dir, "o"), "a=b\nverdict", "pass", "not a name of an output"},
		"a huge value":  {filepath.Join(dir, "o"), "verdict", strings.Repeat("x", 300<<10), "at most 262144"},
		"no such place": {filepath.Join(dir, "absent", "o"), "verdict", "pass", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			r := github.NewRunner(environment{"GITHUB_OUTPUT": c.file}.get, &strings.Builder{})
			if err := r.Output(c.output, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestASummaryStaysBelowWhatTheRunnerDrops(t *testing.T) {
	const mebibyte = 1 << 20
	for name, c := range map[string]struct {
		held  int
		limit int // what render is told, 0 for an error
	}{
		"empty":            {0, 900<<10 - 1},
		"half full":        {500 << 10, 400<<10 - 1 - 2},
		"all but full":     {899 << 10, 4<<10 - 1 - 2},
		"full":             {1000 << 10, 4<<10 - 1 - 2},
		"about to be lost": {1007 << 10, 1<<10 - 1 - 2},
		"lost":             {1020 << 10, 0},
		"beyond":           {2 << 20, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, env, _ := stage(t)
			before := strings.Repeat("x", c.held)
			path := write(t, env["GITHUB_STEP_SUMMARY"], before)
			told := 0
			err := r.Summary(func(limit int) string {
				told = limit
				return "## verdict\n" + strings.Repeat("é", 2*mebibyte)
			})
			if (err != nil) != (c.limit == 0) || told != c.limit {
				t.Fatalf("error %v, limit %d, want %d", err, told, c.limit)
			}
			got := read(t, path)
			if !strings.HasPrefix(got, before) || !utf8.ValidString(got) || len(got) > max(mebibyte-1, c.held) {
				t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
			}
			if c.limit > 0 && !strings.Contains(got, "## verdict\n") {
				t.Error("the verdict is not there")
			}
			if c.held > 0 && c.limit > 0 && !strings.Contains(got, "x\n\n## verdict") {
				t.Error("it begins in the middle of a line of somebody else")
			}
		})
	}
}

func TestASummaryThatCannotBeWrittenIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ path, want string }{
		"no file":       {"", "GITHUB_STEP_SUMMARY is not set"},
		"a folder":      {t.TempDir(), "is not a file"},
		"a device":      {"/dev/null", "is not a file"},
		"no such place": {filepath.Join(t.TempDir(), "absent", "s"), "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			r := github.NewRunner(environment{"GITHUB_STEP_SUMMARY": c.path}.get, &strings.Builder{})
			if err := r.Summary(func(int) string { return "x" }); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestAnnotationsAreTheWorstAndHowManyMore(t *testing.T) {
	r, _, log := stage(t)
	var all []github.Annotation
	for i := range 30 {
		all = append(all, github.Annotation{Level: "error", Message: fmt.Sprint("rule ", i), File: "benchgate.yaml", Line: i + 1})
	}
	for i := range 10 {
		all = append(all, github.Annotation{Level: "warning", Message: fmt.Sprint("mind ", i)})
	}
	all = append(all, github.Annotation{Level: "notice", Message: "slower", Title: "TTFT, p95: worse"}, github.Annotation{Level: "odd"})
	r.Annotate(all)
	lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
	var want []string
	for i := range 9 {
		want = append(want, fmt.Sprintf("::error file=benchgate.yaml,line=%d::rule %d", i+1, i))
	}
	want = append(want, "::error::and 21 more: the summary of this job has them all")
	for i := range 10 {
		want = append(want, fmt.Sprintf("::warning::mind %d", i))
	}
	want = append(want, "::notice title=TTFT%2C p95%3A worse::slower", "::notice::no text")
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestTenAnnotationsAreShownAndOfElevenNine(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "m0", 9: "m8", 10: "m9", 11: "and 2 more: the summary of this job has them all"} {
		r, _, log := stage(t)
		var all []github.Annotation
		for i := range n {
			all = append(all, github.Annotation{Level: "error", Message: fmt.Sprint("m", i)})
		}
		r.Annotate(all)
		lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
		last := strings.TrimPrefix(lines[len(lines)-1], "::error::")
		if last != want || n > 0 && len(lines) != min(n, 10) {
			t.Errorf("%d: %d lines, the last is %q", n, len(lines), last)
		}
	}
}

func TestAnAnnotationIsOneCommandWhateverItHolds(t *testing.T) {
	hostile := "a\r\n::set-env name=PATH::/tmp\x00\x1b[31m##[error]b,c:d%0A::"
	r, _, log := stage(t)
	r.Annotate([]github.Annotation{{Level: "error", Title: hostile, Message: hostile + strings.Repeat("€", 5000), File: hostile, Line: 3}})
	lines := runnerLines(log.String())
	if len(lines) != 1 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	got, ok := parseV2(lines[0])
	if !ok || got.name != "error" || got.properties["line"] != "3" || len(got.properties) != 3 {
		t.Errorf("read as %+v, %v", got, ok)
	}
	if !strings.Contains(got.data, "##[error]b,c:d%0A::€") || utf8.RuneCountInString(got.data) > 2000 {
		t.Errorf("message of %d characters: %q", utf8.RuneCountInString(got.data), got.data[:80])
	}
}

func TestEachLineOfASecretIsMasked(t *testing.T) {
	r, _, log := stage(t)
	r.Mask("")
	r.Mask(" \n")
	r.Mask("one\r\ntwo%\n\nthree")
	if diff := cmp.Diff("::add-mask::one\n::add-mask::two%25\n::add-mask::three\n", log.String()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// deaf is a log that cannot be written.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("nobody reads this") }

func TestALogThatCannotBeWrittenEndsNothing(t *testing.T) {
	r := github.NewRunner(environment{}.get, deaf{})
	r.Mask(token)
	r.Annotate([]github.Annotation{{Level: "error", Message: "x"}})
	if _, err := r.Defuse(deaf{}).Write([]byte("x")); err == nil {
		t.Error("no error where nothing was written")
	}
}
