package main

import (
	"os/exec"
	"runtime"
)

// pinned is a command that shares two cores with the others. On a larger machine taskset ties it to two.
func pinned(name string, args ...string) *exec.Cmd {
	if runtime.NumCPU() > 2 {
		if tie, err := exec.LookPath("taskset"); err == nil {
			return exec.Command(tie, append([]string{"-c", "0,1", name}, args...)...)
		}
	}
	return exec.Command(name, args...)
}
