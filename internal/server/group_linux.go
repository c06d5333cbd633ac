package server

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// groupAlive says whether the group has a process that is more than a zombie. Where nobody reaps orphans, as in a
// container without an init, zombies stay and still answer kill(2).
func groupAlive(group int) bool {
	if syscall.Kill(-group, 0) == syscall.ESRCH {
		return false
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err == nil && runsIn(stat, group) {
			return true
		}
	}
	return false
}

// runsIn reads proc_pid_stat(5): pid (name) state ppid pgrp … The name may hold anything.
func runsIn(stat []byte, group int) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return false
	}
	state, pgrp := string(fields[0]), string(fields[2])
	return pgrp == strconv.Itoa(group) && state != "Z" && state != "X"
}
