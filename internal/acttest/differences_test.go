package acttest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	place = regexp.MustCompile(`\b(internal|cmd)/[a-z/]+`)
	named = regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w+|\b[\w/]+\.txtar`)
)

// TestWhatActDoesNotShowIsShownElsewhere looks for the tests that stand in where act is not GitHub's runner.
func TestWhatActDoesNotShowIsShownElsewhere(t *testing.T) {
	data, err := os.ReadFile("testdata/act.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		folder := "internal/acttest"
		if p := place.FindString(cells[3]); p != "" {
			folder = strings.TrimSuffix(p, "/")
		}
		source := sources(t, filepath.Join("..", "..", folder))
		for _, name := range named.FindAllString(cells[3], -1) {
			found++
			if strings.HasSuffix(name, ".txtar") {
				if _, err := os.Stat(filepath.Join("..", "..", folder, "testdata", "script", name)); err != nil {
					t.Error(err)
				}
			} else if !strings.Contains(source, "func "+name+"(") {
				t.Errorf("there is no %s in %s", name, folder)
			}
		}
	}
	if found < 9 {
		t.Errorf("only %d tests are named: is the table read?", found)
	}
}

// sources are the tests of a folder.
func sources(t *testing.T, folder string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
