package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mistake is an error of a config, whose caret points at a number without its unit.
const mistake = "benchgate.yaml:9:46: 5 has no unit\n    9 |     primary: {metric: ttft.p95, tolerance: 5}\n      |                                            ^\n  hint: write 5%"

func TestATroubleIsShownAsItStands(t *testing.T) {
	for name, of := range map[string]struct {
		trouble Trouble
		limit   int
	}{
		"config":  {Trouble{File: "benchgate.yaml", Text: mistake, Next: "Mend the file in a new commit."}, 10_000},
		"short":   {Trouble{File: "benchgate.yaml", Text: mistake, Next: "Mend the file in a new commit."}, 210},
		"hostile": {Trouble{File: "a`b\n@everyone", Text: "```\n@everyone <img src=x> [a](http://b.example)\n::error::x\n  ::warning::y ##[error]z\n\x1b[31mred\u202e\n" + strings.Repeat("w", 300), Next: "@everyone, see http://b.example", Runner: "lab"}, 10_000},
	} {
		golden := filepath.Join("testdata", "trouble", name+".md")
		got := of.trouble.Markdown(of.limit)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got); go test ./internal/report -update writes it anew:\n%s", golden, diff)
		}
	}
}

func TestATroubleKeepsItsLimit(t *testing.T) {
	trouble := Trouble{File: "benchgate.yaml", Text: strings.Repeat(mistake+"\n", 500), Next: "Mend it."}
	for limit := 10; limit < 70_000; limit += limit/8 + 1 {
		if got := sizeOf(trouble.Markdown(limit)); !got.within(size{limit, mostCharacters}) {
			t.Errorf("with a limit of %d it has %+v", limit, got)
		}
	}
}
