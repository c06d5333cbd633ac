package openai

import (
	"os"
	"strings"
	"testing"
)

// TestPageOfPreflightNamesEveryTrait keeps docs/preflight.md whole.
func TestPageOfPreflightNamesEveryTrait(t *testing.T) {
	page, err := os.ReadFile("../../docs/preflight.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Count(string(page), "\n| `")
	traits := Capabilities{}.Traits()
	for name := range traits {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/preflight.md has no row for %q", name)
		}
	}
	if rows != len(traits) {
		t.Errorf("docs/preflight.md has %d rows for %d traits", rows, len(traits))
	}
}
