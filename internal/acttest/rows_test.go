package acttest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// row is one line of testdata/cases.md.
type row struct {
	name, event, change string
	wrong               []string // what goes wrong
	told                         // what is expected
	says                string
}

// told is what a run of the workflow has to come to.
type told struct{ Jobs, Outcome, Exit, Comment, Statuses, Server string }

// goes reports whether something goes wrong.
func (r row) goes(wrong string) bool { return slices.Contains(r.wrong, wrong) }

func rows(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 13 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "case" {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		all = append(all, row{
			cells[1], cells[2], cells[3], strings.Split(cells[4], " and "),
			told{cells[5], cells[6], cells[7], cells[8], cells[9], cells[10]},
			cells[11],
		})
	}
	if len(all) == 0 {
		t.Fatal("no rows")
	}
	return all
}

// bench is the result of the job that measures, as GitHub has it.
func (r row) bench() string {
	jobs := strings.Fields(r.Jobs)
	switch {
	case r.goes("interrupted"):
		return "cancelled"
	case strings.HasPrefix(r.event, "schedule"): // no job comes before
		return jobs[0]
	}
	return jobs[1]
}

// api is the first thing that is wrong with the API.
func (r row) api() string {
	for _, wrong := range r.wrong {
		if name, _, _ := strings.Cut(wrong, " on "); slices.Contains(apis, name) {
			return name
		}
	}
	return "ok"
}

var (
	events  = []string{"pull_request", "pull_request:fork", "pull_request:deleted", "merge_group", "schedule", "workflow_dispatch"}
	apis    = []string{"ok", "forbidden", "500", "hang"}
	results = []string{"success", "failure", "cancelled", "skipped"}
)

// TestEveryPairIsACase: any two of event, API and result of the job that measures stand in a row together. The code of a fork is
// never measured, and a night has nothing that could skip it.
func TestEveryPairIsACase(t *testing.T) {
	shown := map[[2]string]bool{}
	for _, r := range rows(t) {
		shown[[2]string{r.event, r.api()}] = true
		shown[[2]string{r.event, r.bench()}] = true
		shown[[2]string{r.api(), r.bench()}] = true
	}
	want := func(a, b string) {
		if !shown[[2]string{a, b}] {
			t.Errorf("no case is %s with %s", a, b)
		}
	}
	for _, api := range apis {
		for _, event := range events {
			want(event, api)
		}
		for _, result := range results {
			want(api, result)
		}
	}
	for _, event := range events {
		foreign := event == "pull_request:fork" || event == "pull_request:deleted"
		for _, result := range results {
			if foreign == (result == "skipped") || !foreign && event != "schedule" {
				want(event, result)
			}
		}
	}
}
