// Package scripts_test holds what the scripts that make something for tests answer.
package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filled is a cache, of a name that a shell would take apart, in which everything is made already for the given folders.
func filled(t *testing.T, files ...string) string {
	t.Helper()
	cache := filepath.Join(t.TempDir(), `a b; touch "$stray"; 'c'`)
	for _, name := range files {
		path := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("made"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return cache
}

// machine is a folder of commands that make a script see an x86_64 with or without AVX2.
func machine(t *testing.T, simd bool) string {
	t.Helper()
	folder := t.TempDir()
	found := "exit 1"
	if simd {
		found = "exit 0"
	}
	for name, does := range map[string]string{"uname": "echo x86_64", "grep": found} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestAnswersSurviveTheShell evaluates an answer as test-real.sh does. A build for another processor is in another folder.
func TestAnswersSurviveTheShell(t *testing.T) {
	const model = "gemma3-270m-q4-k-m-1.0.0.gguf"
	for _, c := range []struct {
		script, print string
		simd          bool
		files         []string // what is there already, and what the answer names
	}{
		{"llama-server.sh", `"$LLAMA_SERVER" "$LLAMA_MODEL"`, true, []string{"llama-11434.0.0/llama-server", "llama-11434.0.0/" + model}},
		{"llama-server.sh", `"$LLAMA_SERVER" "$LLAMA_MODEL"`, false, []string{"llama-11434.0.0-plain/llama-server", "llama-11434.0.0-plain/" + model}},
		{"ollama.sh", `"$OLLAMA"`, true, []string{"ollama-0.17.4-avx2/ollama"}},
		{"ollama.sh", `"$OLLAMA"`, false, []string{"ollama-0.17.4/ollama"}},
		{"act.sh", `"$ACT"`, true, []string{"act-0.2.89/act"}},
	} {
		t.Run(c.files[0], func(t *testing.T) {
			for _, name := range []string{c.script, "cached.sh"} { // go test repeats what it knows until a file changes that it saw read
				if _, err := os.ReadFile(name); err != nil {
					t.Fatal(err)
				}
			}
			cache, stray := filled(t, c.files...), filepath.Join(t.TempDir(), "stray")
			// Should what is there not be found, there is no pip and no compiler to make it with.
			sh := exec.Command("/bin/bash", "-c", `set -eu; found=$(./`+c.script+`); eval "$found"; printf '%s\n' `+c.print)
			sh.Env = []string{"PATH=" + machine(t, c.simd) + ":" + tools(t), "BENCHGATE_CACHE=" + cache, "stray=" + stray}
			out, err := sh.CombinedOutput()
			want := ""
			for _, name := range c.files {
				want += filepath.Join(cache, name) + "\n"
			}
			if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if _, err := os.Stat(stray); err == nil {
				t.Error("a command in the name of the cache was run")
			}
		})
	}
}

// tools is a folder of the few commands that an answer takes.
func tools(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"bash", "dirname", "realpath", "env", "touch"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(folder, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
