package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchgate/benchgate/internal/config"
)

// figure is a number with its unit in the program's output.
var figure = regexp.MustCompile(`[0-9]+(\.[0-9]+)? (µs|ms|s|%)`)

// TestClientPageWorks runs the console blocks of docs/client.md: what they show is printed, but for figures, which are the
// machine's own, and a pause of the garbage collector, which not every run has.
func TestClientPageWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, _ := commands(string(page))
	if len(shown) != 2 {
		t.Fatalf("the page shows %d commands, want 2", len(shown))
	}
	var script, outputs bytes.Buffer
	for i, e := range shown {
		if testing.Short() && !strings.Contains(e.command, "ulimit") {
			continue // real time, ten seconds
		}
		code := 0
		if strings.Contains(e.command, "ulimit") {
			code = 2
		}
		fmt.Fprintf(&script, "exits %d %s\nprints output%d\n", code, e.command, i)
		fmt.Fprintf(&outputs, "-- output%d --\n%s", i, e.output)
	}
	file := filepath.Join(t.TempDir(), "client.txtar")
	if err := os.WriteFile(file, append(script.Bytes(), outputs.Bytes()...), 0o600); err != nil {
		t.Fatal(err)
	}
	p := pageParams(file)
	p.Cmds["prints"] = prints
	testscript.Run(t, p)
}

// prints FILE holds each line of a file against those of the last command's output and talk.
func prints(ts *testscript.TestScript, neg bool, args []string) {
	got := figureless(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	for line := range strings.Lines(figureless(ts.ReadFile(args[0]))) {
		if neg || !strings.Contains(got, line) {
			ts.Fatalf("the document shows\n%sand the command printed\n%s", line, got)
		}
	}
}

func figureless(text string) string {
	return strings.ReplaceAll(figure.ReplaceAllString(text, "N"), ", GC pause N", "")
}

// TestClientPageShowsTheDefaults reads the block of keys in docs/client.md: it is what a config has that sets none.
func TestClientPageShowsTheDefaults(t *testing.T) {
	page, err := os.ReadFile("../../docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```yaml\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the page has no block of keys")
	}
	c, err := config.Parse("client.yaml", []byte(`version: 1
runner: lab
target: {base_url: "http://127.0.0.1:1/v1", model: m}
scenarios:
  chat: {dataset: {kind: random, input_tokens: 8}, output_tokens: 8, load: {concurrency: 1, requests: 8}}
`+block))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.DefaultClient(), c.Campaign.Client); diff != "" {
		t.Errorf("docs/client.md (-default +shown):\n%s", diff)
	}
}
