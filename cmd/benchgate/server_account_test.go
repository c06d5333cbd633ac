package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestServerAccountPageWorks runs the console blocks of docs/server-account.md with the config that it shows. Figures are
// those of a machine and a day: what is shown has to come in the same words.
func TestServerAccountPageWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/server-account.md")
	if err != nil {
		t.Fatal(err)
	}
	conf := yamlBlock.FindSubmatch(page)
	shown, _ := commands(string(page))
	if conf == nil || len(shown) != 3 {
		t.Fatalf("the page shows %d commands, and the config: %v", len(shown), conf != nil)
	}
	var script, files bytes.Buffer
	fmt.Fprintf(&files, "-- benchgate.yaml --\n%s", conf[1])
	for i, e := range shown {
		fmt.Fprintf(&script, "exec %s\nlikens output%d\n", e.command, i)
		fmt.Fprintf(&files, "-- output%d --\n%s", i, e.output)
	}
	name := filepath.Join(t.TempDir(), "page.txtar")
	if err := os.WriteFile(name, append(script.Bytes(), files.Bytes()...), 0o600); err != nil {
		t.Fatal(err)
	}
	p := scriptParams()
	p.Files = []string{name}
	p.Cmds["likens"] = likens
	testscript.Run(t, p)
}

var figures = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// likens FILE finds each line of a file in what the last command printed, whatever the figures and the breaks of lines.
func likens(ts *testscript.TestScript, neg bool, args []string) {
	words := func(s string) string { return figures.ReplaceAllString(strings.Join(strings.Fields(s), " "), "#") }
	got := words(ts.ReadFile("stdout") + " " + ts.ReadFile("stderr"))
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if neg || !strings.Contains(got, words(line)) {
			ts.Fatalf("the document shows\n%s\nand the command printed\n%s", line, got)
		}
	}
}
