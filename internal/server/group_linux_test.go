package server

import (
	"os/exec"
	"testing"
)

func TestZombiesAreNotAlive(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read -r word")
	cmd.SysProcAttr = groupOfItsOwn()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid
	if !groupAlive(group) {
		t.Error("a running process is not alive")
	}
	in.Close()
	eventually(t, "the zombie, not waited for, is seen to be none alive", func() bool { return !groupAlive(group) })
	_ = cmd.Wait()
	if groupAlive(group) {
		t.Error("alive after it was waited for")
	}
}

func TestStatLinesWithHostileNames(t *testing.T) {
	for stat, want := range map[string]bool{
		"12 (sh) S 1 77 77 0 -1":        true,
		"12 (a) b) R 1 77 77 0 -1":      true,
		"12 (x) S 1 77 77) Z 1 77 77 0": false,
		"12 (sh) Z 1 77 77 0 -1":        false,
		"12 (sh) X 1 77 77 0 -1":        false,
		"12 (sh) S 77 12 77 0 -1":       false,
		"12 (sh) S":                     false,
		"":                              false,
	} {
		if got := runsIn([]byte(stat), 77); got != want {
			t.Errorf("%q runs in group 77: %v, want %v", stat, got, want)
		}
	}
}
