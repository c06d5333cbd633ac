package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchgate/benchgate/internal/config"
)

// TestDatasetsPageWorks runs the console blocks of docs/datasets.md: one for the plan, and one for every scenario of
// examples/datasets.yaml, all of whose requests succeed. With -short that of shared prefixes stands for them all.
func TestDatasetsPageWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/datasets.md")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Read("../../examples/datasets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shown, _ := commands(string(page))
	if want := len(c.Scenarios) + 1; len(shown) != want {
		t.Fatalf("the page shows %d commands, want %d", len(shown), want)
	}
	var script, outputs bytes.Buffer
	for i, e := range shown {
		if testing.Short() && e.output == "" && !strings.Contains(e.command, "documents") {
			continue // real time, a few seconds each
		}
		fmt.Fprintf(&script, "exits 0 %s\n", e.command)
		if e.output == "" {
			fmt.Fprintln(&script, "stdout 'error.ratio +0 %'")
			continue
		}
		fmt.Fprintf(&script, "shows output%d\n", i)
		fmt.Fprintf(&outputs, "-- output%d --\n%s", i, e.output)
	}
	for _, s := range c.Scenarios {
		if !bytes.Contains(page, []byte("--scenario "+s.Name+" ")) {
			t.Errorf("the page does not run %q", s.Name)
		}
		if !bytes.Contains(page, []byte("`"+s.Dataset.Kind+"`")) {
			t.Errorf("the page does not name %q", s.Dataset.Kind)
		}
	}
	name := filepath.Join(t.TempDir(), "page.txtar")
	if err := os.WriteFile(name, append(script.Bytes(), outputs.Bytes()...), 0o600); err != nil {
		t.Fatal(err)
	}
	p := pageParams(name)
	p.Cmds["shows"] = shows
	testscript.Run(t, p)
}
