package host

import (
	"syscall"
	"testing"
)

func TestTheFileLimitIsRaised(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	lowered := syscall.Rlimit{Cur: before.Cur / 2, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lowered); err != nil {
		t.Fatal(err)
	}
	got, err := RaiseFileLimit()
	if err != nil || got < before.Cur {
		t.Errorf("limit %d, was %d: %v", got, before.Cur, err)
	}
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil || now.Cur != got {
		t.Errorf("limit %d, said %d: %v", now.Cur, got, err)
	}
}
