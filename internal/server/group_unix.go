//go:build unix && !linux

package server

import "syscall"

func groupOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// groupAlive says whether the group has a process. macOS answers EPERM for a group of nothing but zombies; every process
// of the group is of our user, so it means nothing else.
func groupAlive(group int) bool { return syscall.Kill(-group, 0) == nil }
