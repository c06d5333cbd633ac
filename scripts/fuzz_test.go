package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Go takes its own deadline for a failure of the target now and then; nothing else may pass for that.
func TestFuzzFailsForWhatATargetFindsAndNotForTheEndOfItsTime(t *testing.T) {
	const began = "fuzz: elapsed: 0s, gathering baseline coverage: 0/120 completed\n"
	cases := map[string]struct {
		out  string
		fail bool
	}{
		"the time is over": {out: began + "--- FAIL: FuzzIt (5.03s)\n    context deadline exceeded\nFAIL\nexit status 1\nFAIL\tmodule/it\t5.034s\n"},
		"an input was found": {
			out:  began + "--- FAIL: FuzzIt (5.03s)\n    --- FAIL: FuzzIt (0.00s)\n        it_test.go:9: wrong\n\n    Failing input written to testdata/fuzz/FuzzIt/58\nFAIL\n",
			fail: true,
		},
		"a found input names the deadline": {
			out:  began + "--- FAIL: FuzzIt (2.03s)\n    context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzIt/58\nFAIL\n",
			fail: true,
		},
		"a known input fails": {
			out:  began + "--- FAIL: FuzzIt (0.03s)\n    --- FAIL: FuzzIt/seed (0.00s)\n        it_test.go:9: context deadline exceeded\nFAIL\n",
			fail: true,
		},
		"a worker ends": {
			out:  began + "--- FAIL: FuzzIt (1.03s)\n    context deadline exceeded\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n",
			fail: true,
		},
		"another target": {out: began + "--- FAIL: FuzzOther (5.03s)\n    context deadline exceeded\nFAIL\n", fail: true},
		"does not build": {out: "# module/it\nit_test.go:1: syntax error\nFAIL\tmodule/it [build failed]\n", fail: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write := func(name, text string, mode os.FileMode) {
				t.Helper()
				path := filepath.Join(folder, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), mode); err != nil {
					t.Fatal(err)
				}
			}
			script, err := os.ReadFile("fuzz.sh")
			if err != nil {
				t.Fatal(err)
			}
			write("scripts/fuzz.sh", string(script), 0o755)
			write("it/it_test.go", "package it\n\nfunc FuzzIt(f *testing.F) {}\n\nfunc FuzzThen(f *testing.F) {}\n", 0o644)
			write("answer", c.out, 0o644)
			write("bin/go", `#!/bin/sh
case "$*" in
"list "*) echo "$PWD/it" ;;
*FuzzIt*) cat answer; exit 1 ;;
*FuzzThen*) echo "ok  	module/it	5.1s" ;;
esac
`, 0o755)
			cmd := exec.Command(filepath.Join(folder, "scripts", "fuzz.sh"))
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(folder, "bin")+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if failed := err != nil; failed != c.fail {
				t.Errorf("fails: %v, want %v\n%s", failed, c.fail, out)
			}
			if next := strings.Contains(string(out), "FuzzThen in it, 20s\nok"); next == c.fail {
				t.Errorf("the next target runs: %v, want %v\n%s", next, !c.fail, out)
			}
		})
	}
}
