//go:build !linux

package host

// throttledTime is 0: this system has no CPU quotas that a container could run into.
func throttledTime() float64 { return 0 }
