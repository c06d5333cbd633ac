package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// onTheLabMachine are the commands of docs/github.md that need a server or a network; other tests run what they do.
var onTheLabMachine = []string{
	"benchgate doctor", // testdata/script/doctor.txtar
	"benchgate run -o first-session",
	`benchgate baseline accept first-session --reason "first session"`, // both: the README's
}

// TestGitHubPageWorks runs the console blocks of docs/github.md in order, in a new folder.
func TestGitHubPageWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/github.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, plain := commands(string(page))
	if diff := len(plain) - len(onTheLabMachine); diff != 0 {
		t.Errorf("%d commands more than known are not run: %q", diff, plain)
	}
	for _, c := range plain {
		if !slices.Contains(onTheLabMachine, c) {
			t.Errorf("nothing runs %q", c)
		}
	}
	if len(shown) != 2 {
		t.Fatalf("the page shows %d commands: is the test looking in the right place?", len(shown))
	}
	var b bytes.Buffer
	for i, e := range shown {
		fmt.Fprintf(&b, "exec %s\nshows output%d\n", e.command, i)
	}
	for i, e := range shown {
		fmt.Fprintf(&b, "-- output%d --\n%s", i, e.output)
	}
	script := filepath.Join(t.TempDir(), "page.txtar")
	if err := os.WriteFile(script, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p := pageParams(script)
	p.Cmds["shows"] = shows
	testscript.Run(t, p)
}
