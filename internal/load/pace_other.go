//go:build !linux

package load

import "time"

// preciseSleep returns time.Sleep: the poller of other kernels takes nanoseconds.
func preciseSleep() func(time.Duration) { return time.Sleep }
