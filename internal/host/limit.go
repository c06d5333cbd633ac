package host

import (
	"fmt"
	"syscall"
)

// RaiseFileLimit lifts the number of files that this process may hold open as far as it may, and returns the number that
// now holds. Each request in flight needs one.
func RaiseFileLimit() (uint64, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	for want := l.Max; want > l.Cur; want /= 2 {
		// Some systems promise more than they grant: take the largest that is granted.
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: want, Max: l.Max}) == nil {
			return want, nil
		}
	}
	return l.Cur, nil
}
