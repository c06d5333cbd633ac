package main

import (
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
}

var (
	console  = regexp.MustCompile("(?s)```console\n(.*?)```")
	indented = regexp.MustCompile(`(?m)^    (\S.*?)(?: +# .*)?$`)
)

// commands are the commands of a document: the lines that begin with a dollar sign in console blocks, and indented ones.
func commands(text string) (shown, plain []string) {
	for _, block := range console.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if c, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
				shown = append(shown, c)
			}
		}
	}
	for _, m := range indented.FindAllStringSubmatch(console.ReplaceAllString(text, ""), -1) {
		plain = append(plain, m[1])
	}
	return shown, plain
}

// TestReadmeCommandsWork runs the README's console blocks in order, in one folder, on the simulated server: the config
// that init wrote gives way to examples/simulated.yaml after it was planned, as the text says.
func TestReadmeCommandsWork(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, plain := commands(string(readme))
	for _, c := range plain {
		if elsewhere[c] == "" && !isOutput(c) {
			t.Errorf("nothing runs %q of the README", c)
		}
	}
	if len(shown) < 8 || !slices.Contains(shown, "benchgate run --plan") {
		t.Fatalf("the README shows only %q", shown)
	}
	var script strings.Builder
	script.WriteString("cp $EXAMPLES/simulated.yaml simulated.yaml\n")
	for _, c := range shown {
		code := "0"
		if strings.Contains(c, "head.json") && strings.Contains(c, " gate ") {
			code = "1" // the README says so
		}
		script.WriteString("exits " + code + " " + strings.ReplaceAll(c, `"`, `'`) + "\n")
		if c == "benchgate run --plan" {
			script.WriteString("cp simulated.yaml benchgate.yaml\n")
		}
	}
	runScript(t, script.String())
}

// isOutput reports whether an indented line is part of an output that the README shows.
func isOutput(line string) bool {
	return !strings.HasPrefix(line, "benchgate ") && !strings.HasPrefix(line, "go ") && !strings.HasPrefix(line, "make ")
}

// runScript runs one script with the examples at hand; globs in it are spelt out, since a script has no shell.
func runScript(t *testing.T, script string) {
	t.Helper()
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	glob := regexp.MustCompile(`examples/\S*\*\S*`)
	script = glob.ReplaceAllStringFunc(script, func(pattern string) string {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(examples), pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("%s matches nothing", pattern)
		}
		return strings.Join(files, " ")
	})
	folder := t.TempDir()
	file := filepath.Join(folder, "readme.txtar")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	p := scriptParams()
	p.Dir, p.Files = "", []string{file}
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("EXAMPLES", examples)
		return setup(e)
	}
	testscript.Run(t, p)
}
