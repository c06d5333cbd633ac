//go:build unix

package scripts_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestCancelReachesTheProgram: a runner that cancels a job signals the first process of the step, and nobody else.
func TestCancelReachesTheProgram(t *testing.T) {
	action, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ +run: (.*BENCHGATE_BIN.*)$`).FindSubmatch(action)
	if line == nil {
		t.Fatal("no step of action.yml runs the program")
	}
	folder := t.TempDir()
	step, bin := filepath.Join(folder, "step.sh"), filepath.Join(folder, "bench gate")
	server := "#!/bin/sh\ntrap 'kill $!; echo \"stopped $1\"; exit 130' INT\nsleep 60 &\necho ready\nwait\n"
	if err := errors.Join(os.WriteFile(step, line[1], 0o600), os.WriteFile(bin, []byte(server), 0o755)); err != nil {
		t.Fatal(err)
	}
	// As the runner starts what has `shell: bash`.
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", step)
	cmd.Env = append(os.Environ(), "BENCHGATE_BIN="+bin)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if got, err := said.ReadString('\n'); got != "ready\n" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(said)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || string(got) != "stopped action\n" {
		t.Errorf("%q, %v", got, err)
	}
}
