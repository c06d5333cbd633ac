package host

import (
	"context"
	"runtime"
)

// processor returns the model and the number of logical cores of the machine; empty and 0 where unknown.
func processor(context.Context) (model string, cores int) { return "", runtime.NumCPU() }

// busy is the CPU time of the whole machine since it started, over all cores, in seconds.
type busy struct{ busy, total float64 }

func hostTime() busy { return busy{} }
