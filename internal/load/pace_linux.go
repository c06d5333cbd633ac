package load

import (
	"syscall"
	"time"
)

// preciseSleep returns nanosleep, or time.Sleep where the clock stands still in a system call, as the virtual clock of
// testing/synctest does.
func preciseSleep() func(time.Duration) {
	before := time.Now()
	nanosleep(time.Microsecond)
	if time.Since(before) == 0 {
		return time.Sleep
	}
	return nanosleep
}

// nanosleep may return early, when a signal comes.
func nanosleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil)
}
