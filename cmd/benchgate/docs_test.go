package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// elsewhere are the README's commands that another test runs, or that would run this one.
var elsewhere = map[string]string{
	"go run ./cmd/benchgate demo": "TestDemoComesOutAsItShould, and .ci/run",
	"make test":                   "runs this test",
	"benchgate doctor":            "testdata/script/doctor.txtar, with wide limits on the client",
}

var (
	console  = regexp.MustCompile("(?s)```console\n(.*?)```")
	indented = regexp.MustCompile(`(?m)^    ((?:benchgate|go|make) .*?)(?: +# .*)?$`)
	glob     = regexp.MustCompile(`examples/\S*\*\S*`)
)

// example is one command of a document, and the beginning of the output that it shows, if any.
type example struct{ command, output string }

// examples are the commands of the console blocks; plain are the indented ones.
func commands(text string) (examples []example, plain []string) {
	for _, block := range console.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if c, ok := strings.CutPrefix(line, "$ "); ok {
				examples = append(examples, example{command: strings.TrimSpace(c)})
			} else if strings.TrimSpace(line) != "…" {
				examples[len(examples)-1].output += line
			}
		}
	}
	for _, m := range indented.FindAllStringSubmatch(console.ReplaceAllString(text, ""), -1) {
		plain = append(plain, m[1])
	}
	return examples, plain
}

// TestReadmeCommandsWork runs the README's console blocks in order, in one folder, on the simulated server: the config
// that init wrote gives way to examples/simulated.yaml after it was planned, as the text says.
func TestReadmeCommandsWork(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, plain := commands(string(readme))
	for _, c := range plain {
		if elsewhere[c] == "" {
			t.Errorf("nothing runs %q of the README", c)
		}
	}
	if len(shown) < 12 {
		t.Fatalf("the README shows only %d commands: is the test looking in the right place?", len(shown))
	}
	folder := t.TempDir()
	script := filepath.Join(folder, "readme.txtar")
	if err := os.WriteFile(script, scriptOf(shown), 0o600); err != nil {
		t.Fatal(err)
	}
	p := pageParams(script)
	p.Cmds["shows"] = shows
	testscript.Run(t, p)
}

// pageParams run the commands that a page shows where the examples are. The limits of their client are wide: other tests run
// beside this one.
func pageParams(script string) testscript.Params {
	p := scriptParams()
	p.Files = []string{script}
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		examples := filepath.Join(e.WorkDir, "examples")
		return errors.Join(
			os.CopyFS(examples, os.DirFS("../../examples")),
			widen(filepath.Join(examples, "simulated.yaml")), widen(filepath.Join(examples, "datasets.yaml")),
			setup(e),
		)
	}
	return p
}

// widen turns off what makes a run void on a busy machine.
func widen(config string) error {
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	const narrow, wide = "\ncampaign: {", "\ncampaign: {client: {lateness: 10s, timer: off, sched: off, throttled: off}, "
	if bytes.Count(text, []byte(narrow)) != 1 {
		return fmt.Errorf("%s: its campaign is not where it is looked for", config)
	}
	return os.WriteFile(config, bytes.Replace(text, []byte(narrow), []byte(wide), 1), 0o600)
}

// red are the commands that the README says exit with 1.
var red = []string{"--candidate examples/llama-server/one-slot.json", "--candidate head.json"}

func scriptOf(shown []example) []byte {
	var b bytes.Buffer
	for i, e := range shown {
		code := "0"
		if slices.ContainsFunc(red, func(part string) bool { return strings.Contains(e.command, part) }) {
			code = "1"
		}
		fmt.Fprintf(&b, "exits %s %s\n", code, strings.ReplaceAll(spelled(e.command), `"`, `'`))
		if e.output != "" {
			fmt.Fprintf(&b, "shows output%d\n", i)
		}
		if e.command == "benchgate run --plan" {
			b.WriteString("cp examples/simulated.yaml benchgate.yaml\n")
		}
	}
	for i, e := range shown {
		if e.output != "" {
			fmt.Fprintf(&b, "-- output%d --\n%s", i, e.output)
		}
	}
	return b.Bytes()
}

// spelled spells globs out, since a script has no shell.
func spelled(command string) string {
	return glob.ReplaceAllStringFunc(command, func(pattern string) string {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(files) == 0 {
			return pattern
		}
		for i, f := range files {
			files[i] = strings.TrimPrefix(filepath.ToSlash(f), "../../")
		}
		return strings.Join(files, " ")
	})
}

// shows FILE holds the beginning of the last command's output against a file.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	want, got := ts.ReadFile(args[0]), ts.ReadFile("stdout")
	if neg || !strings.HasPrefix(got, want) {
		ts.Fatalf("the document shows\n%s\nand the command printed\n%s", want, got)
	}
}
