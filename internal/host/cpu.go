package host

import (
	"context"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
)

// processor returns the model and the number of logical cores of the machine; empty and 0 where unknown.
func processor(ctx context.Context) (model string, cores int) {
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 {
		model = strings.Join(strings.Fields(infos[0].ModelName), " ")
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil {
		cores = n
	}
	return model, cores
}

// busy is the CPU time of the whole machine since it started, over all cores, in seconds.
type busy struct{ busy, total float64 }

func hostTime() busy {
	times, err := cpu.TimesWithContext(context.Background(), false)
	if err != nil || len(times) == 0 {
		return busy{}
	}
	t := times[0]
	work := t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal
	return busy{busy: work, total: work + t.Idle + t.Iowait}
}
