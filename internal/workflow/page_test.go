package workflow

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

const page = root + "/docs/github.md"

// TestPageShowsWhatThereIs holds the parts of docs/github.md that are made from files against those.
func TestPageShowsWhatThereIs(t *testing.T) {
	got := string(read(t, "docs/github.md"))
	want := filled(t, got, "inputs", tables(t))
	want = filled(t, want, "comment", comment(t))
	if *update {
		if err := os.WriteFile(filepath.FromSlash(page), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("go test ./internal/workflow -update writes it (-want +got):\n%s", diff)
	}
}

// filled is the page with another text between the two marks of a name.
func filled(t *testing.T, text, name, with string) string {
	t.Helper()
	between := regexp.MustCompile(`(?s)(<!-- ` + name + `: [^\n]*-->\n).*(<!-- /` + name + ` -->)`)
	if !between.MatchString(text) {
		t.Fatalf("the page has no place for %s", name)
	}
	return between.ReplaceAllStringFunc(text, func(old string) string {
		m := between.FindStringSubmatch(old)
		return m[1] + with + m[2]
	})
}

// tables are the inputs and outputs of action.yml, in its order.
func tables(t *testing.T) string {
	t.Helper()
	var a struct{ Inputs, Outputs yaml.MapSlice }
	if err := yaml.Unmarshal(read(t, "action.yml"), &a); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| input | default | |\n|---|---|---|\n")
	for _, in := range a.Inputs {
		about := in.Value.(map[string]any)
		standing := ""
		if about["default"] != nil && about["default"] != "" {
			standing = fmt.Sprintf("`%v`", about["default"])
		}
		if about["required"] == true {
			standing = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", in.Key, standing, about["description"])
	}
	b.WriteString("\n| output | |\n|---|---|\n")
	for _, out := range a.Outputs {
		fmt.Fprintf(&b, "| `%s` | %s |\n", out.Key, out.Value.(map[string]any)["description"])
	}
	return b.String()
}

// comment is the part of a comment that is not folded, as a quotation.
func comment(t *testing.T) string {
	t.Helper()
	head, _, cut := strings.Cut(string(read(t, "internal/report/testdata/regressed.md")), "\n<details>")
	if !cut {
		t.Fatal("nothing of the comment is folded")
	}
	var b strings.Builder
	for line := range strings.Lines(head) {
		b.WriteString(strings.TrimRight("> "+line, " \n") + "\n")
	}
	return b.String()
}
