package github_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

const matrixHead = `# What comes of each fault of GitHub's API, met once and met always by one kind of call.
# A cell is: what is told of the comment, the calls, the comment in the end + the statuses in the end.
# Calls: p reads the pull request, l lists its comments, C creates one, U updates it, D deletes it, S writes the status,
# s lists statuses, v and w ask who the token is, ! goes to another host. "list again" and "update" start with the comment of an older
# run.
fault	times	pull	list	list again	create	update	status	every call
`

// endless is a list that is asked for again until the time for publishing is over: chance spreads the attempts.
var endless = regexp.MustCompile("sss+")

var callsThatFail = []string{"pull", "list", "list again", "create", "update", "status", ""}

// TestAPIFailures plays every fault against every kind of call; with -short those met once, where a write is at stake.
// The table is made by -update, and then read.
func TestAPIFailures(t *testing.T) {
	const file = "testdata/matrix.tsv"
	if *update {
		if err := os.WriteFile(file, []byte(matrix(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	for line := range strings.Lines(strings.TrimPrefix(string(data), matrixHead)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		fault, times, cells := cells[0], cells[1], cells[2:]
		faults = append(faults, fault)
		for i, on := range callsThatFail {
			brief := times == "once" && fault != "huge" && (on == "list again" || on == "create" || on == "update")
			if testing.Short() && !brief {
				continue
			}
			if got := failing(t, ghfake.Fault{Name: fault, On: on, Times: timesOf[times]}); got != cells[i] {
				t.Errorf("%s, met %s by %q: %s; want %s", fault, times, on, got, cells[i])
			}
		}
	}
	if diff := cmp.Diff(ghfake.Names(), slices.Compact(faults)); diff != "" {
		t.Errorf("faults of %s (-want +got)\n%s", file, diff)
	}
}

var timesOf = map[string]int{"once": 1, "always": 0}

func matrix(t *testing.T) string {
	var b strings.Builder
	b.WriteString(matrixHead)
	for _, fault := range ghfake.Names() {
		for _, times := range []string{"once", "always"} {
			fmt.Fprintf(&b, "%s\t%s", fault, times)
			for _, on := range callsThatFail {
				fmt.Fprintf(&b, "\t%s", failing(t, ghfake.Fault{Name: fault, On: on, Times: timesOf[times]}))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// failing is one cell: a post under one fault, and what no fault may bring about.
func failing(t *testing.T, f ghfake.Fault) (cell string) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		if _, again := strings.CutSuffix(f.On, " again"); again || f.On == "update" {
			w.publish(note(49, "old words"))
		}
		before := len(w.Made())
		f.On = strings.TrimSuffix(f.On, " again")
		if err := w.Fail(f); err != nil {
			t.Fatal(err)
		}
		posted := w.publish(note(50, "new words"))
		made, left := letters(w.Made()[before:]), w.left()
		if f.On == "" {
			made = endless.ReplaceAllString(made, "s…")
		}
		cell = fmt.Sprintf("%s %s %s", posted.Comment, made, left)
		if strings.Contains(left, "!") {
			t.Errorf("%+v: %s: the comment is there more than once", f, cell)
		}
		if done := posted.Comment == "created" || posted.Comment == "updated"; done && !strings.HasPrefix(left, "new") {
			t.Errorf("%+v: %s: told as done, and it is not", f, cell)
		}
		follows := f.Name == "too-long" || strings.HasPrefix(f.Name, "redirect-") // shorter, or where GitHub sent it
		if !follows && (strings.Contains(made, "CC") || strings.Contains(made, "SS")) {
			t.Errorf("%+v: %s: a POST was sent twice without a look in between", f, cell)
		}
	})
	return cell
}

// TestNoFaultOpensTwoPullRequests plays every fault against the standing pull request of the nightly.
func TestNoFaultOpensTwoPullRequests(t *testing.T) {
	for _, fault := range ghfake.Names() {
		for _, times := range []int{1, 0} {
			if testing.Short() && (times == 0 || fault == "huge") {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				w := inMemory(t, ghfake.Options{Faults: []ghfake.Fault{{Name: fault, On: "create-pull", Times: times}}})
				defer w.leave()
				stood, err := w.client().StandingPull(t.Context(), github.Standing{Head: "nightly", Base: "main", Title: "Baselines", Body: "new words"})
				made := 0
				for _, p := range w.State().Pulls {
					if p.HeadRef == "nightly" {
						made++
					}
				}
				if told := stood.State == "created"; made > 1 || told != (err == nil) || told && made == 0 {
					t.Errorf("%s, %d times: %d pull requests, told %+v, %v, calls %v", fault, times, made, stood, err, w.Made())
				}
				if err != nil && (strings.Contains(err.Error(), token) || strings.ContainsAny(err.Error(), "\r\n")) {
					t.Errorf("%s: the error is %q", fault, err)
				}
			})
		}
	}
}
