package nightly

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/baseline"
)

var update = flag.Bool("update", false, "write the golden files anew")

func stood(day int, place baseline.Place, why string) baseline.Replayed {
	at := time.Date(2026, 9, day, 2, 0, 0, 0, time.UTC)
	return baseline.Replayed{Night: Name(at, int64(100+day)), Runner: "lab", Began: at, Place: place, Why: why}
}

func TestPullRequestSaysWhatAPersonNeeds(t *testing.T) {
	differs := `scenario "chat" of runner "lab" cannot join its baseline: its level differs: ttft.p50 regressed: ttft.p50 is 50 % slower (from 44 % to 56 % slower, 95 % interval); the tolerance is 5 %; start anew with --new-epoch --reason TEXT if that is intended`
	for name, r := range map[string]Result{
		"joins":   {Nights: []baseline.Replayed{stood(1, baseline.Held, ""), stood(2, baseline.Joined, ""), stood(3, baseline.Joined, `sessions "a" and "b" began within 40m0s`)}, Grown: []Growth{{"lab", "batch", 0, 2}, {"lab", "chat", 1, 3}}},
		"refused": {Nights: []baseline.Replayed{stood(2, baseline.Passed, "x"), stood(3, baseline.Refused, differs)}},
		"both":    {Nights: []baseline.Replayed{stood(2, baseline.Refused, differs), stood(3, baseline.Joined, "")}, Grown: []Growth{{"lab", "chat", 10, 10}}},
	} {
		got := "# " + r.Title() + "\n\n" + r.Body(Repository{Main: "main", Data: "benchgate-data"})
		file := "testdata/" + name + ".md"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A digest of the lab machine may say anything: nothing of it leaves the block, mentions somebody or links somewhere.
func TestForeignTextStaysInItsBlock(t *testing.T) {
	why := "x\n~~~\n@everyone <!-- --> [a](https://example.com) \u202e `` ``` | ::error::x\r\n# heading ~~~~~~~ x ~~~" + strings.Repeat("é", 5000)
	r := Result{Nights: []baseline.Replayed{stood(1, baseline.Refused, why)}}
	body := r.Told()
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if lines[0] != "~~~text" || lines[1] != "2026-09-01-101  lab  REFUSED:" || lines[2] != "    x ~~~ @everyone <!-- --> [a](https://example.com) `` ``` | ::error::x #" {
		t.Errorf("the block:\n%s", body)
	}
	for _, line := range lines[2 : len(lines)-1] {
		if !strings.HasPrefix(line, "    ") { // three blanks before a fence end a block
			t.Errorf("what may end the block: %q", line)
		}
	}
	if strings.ContainsAny(body, "\u202e\r") || len([]rune(body)) > 700 {
		t.Errorf("%d characters: %q", len([]rune(body)), body)
	}
}

func TestTextOfManyNightsStaysBelowTheLimit(t *testing.T) {
	var r Result
	for day := range 900 {
		r.Nights = append(r.Nights, stood(day, baseline.Refused, strings.Repeat("é", 700)))
		r.Grown = append(r.Grown, Growth{"lab", fmt.Sprintf("%040d", day), 1, 2})
	}
	if n := len([]rune(r.Body(Repository{Main: "main", Data: "data"}))); n > 65536 {
		t.Errorf("%d characters", n)
	}
}
