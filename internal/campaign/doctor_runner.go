package campaign

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/benchgate/benchgate/internal/host"
)

// runner looks at the machine. It takes the device as long as the examination lasts; false: somebody measures on it.
func (d *doctor) runner(ctx context.Context) (free bool, unlock func()) {
	d.machine()
	d.clock()
	d.files()
	return d.device(ctx)
}

func (d *doctor) machine() {
	h := d.Host
	memory := ""
	if h.Memory > 0 {
		memory = fmt.Sprintf(", %d GiB", (h.Memory+1<<29)>>30)
	}
	c := Check{
		Section: "runner", Name: "machine", State: Good,
		Found: fmt.Sprintf("%s, %d cores%s, %s", known(h.CPU, "unknown CPU"), max(h.Cores, runtime.NumCPU()), memory, known(h.OS, "unknown system")),
	}
	if h.Machine == "" {
		c.State = Warn
		c.Why = "this machine has no id, so two runners cannot be told apart but by their names"
		c.Next = "mount /etc/machine-id into the container, or give each machine a runner name of its own"
	}
	d.add(c)
	a := Check{Section: "runner", Name: "accelerator", State: Good, Found: h.Accelerator}
	switch {
	case h.Accelerator == "":
		a.State, a.Found = Warn, "unknown"
		a.Why = "whether two sides ran on the same accelerator would have to be taken on trust"
		a.Next = "make nvidia-smi or rocm-smi work for this user, if there is an accelerator"
	case h.Driver != "" && h.Driver != host.None:
		a.Found += ", driver " + h.Driver
	}
	d.add(a)
}

func known(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// clock looks at what sets the clock of the cores.
func (d *doctor) clock() {
	cores := host.Governors()
	total := 0
	for _, n := range cores {
		total += n
	}
	switch {
	case total == 0:
		d.good("runner", "clock", "the system does not say what sets it")
	case cores["performance"] == total:
		d.good("runner", "clock", "governor performance on all %d cores", total)
	default:
		d.add(Check{
			Section: "runner", Name: "clock", State: Warn,
			Found: fmt.Sprintf("governor performance on %d of %d cores", cores["performance"], total),
			Why:   "the others follow the load, so that runs differ by how warm the clock was",
			Next:  "cpupower frequency-set -g performance, as root",
		})
	}
}

// files looks at how many connections this program may hold.
func (d *doctor) files() {
	need := uint64(d.needed())
	limit, err := host.RaiseFileLimit()
	c := Check{
		Section: "runner", Name: "files", State: Good, Found: fmt.Sprintf("%d may be open, %d are needed", limit, need),
		Figures: map[string]float64{"limit": float64(limit), "needed": float64(need)},
	}
	switch {
	case err != nil:
		c.State, c.Found = Warn, err.Error()
		c.Why, c.Next = "each request in flight needs one", "see ulimit -n"
	case limit < need:
		c.State, c.Why, c.Next = Fail, "each request in flight needs one", fmt.Sprintf("ulimit -n %d, or lower the scenario's concurrency", need)
	}
	d.add(c)
}

// needed is how many files the plan needs; without one, the self-tests at the usual loads.
func (d *doctor) needed() (need int) {
	if d.Plan != nil {
		need, _ = d.Plan.Files()
		return need
	}
	for _, t := range d.trials() {
		need = max(need, 2*selfTestConnections(likeness(t.load))+reserve)
	}
	return need
}

// deviceWait is how long a doctor waits for another measurement to end.
const deviceWait = 5 * time.Minute

// device takes the device, or says who has it.
func (d *doctor) device(ctx context.Context) (free bool, unlock func()) {
	if d.Dial != nil { // a server in memory has no device to itself
		return true, func() {}
	}
	name := d.Host.Device()
	release, by, err := host.TryLock(name)
	found := fmt.Sprintf("%q is free", name)
	if err == nil && release == nil {
		found = fmt.Sprintf("%q is free now; it was held by %s", name, by)
		limited, cancel := context.WithTimeout(ctx, deviceWait)
		defer cancel()
		release, err = host.Lock(limited, name, d.Say)
	}
	if err == nil {
		d.good("runner", "device", "%s", found)
		return true, func() { _ = release() }
	}
	c := Check{
		Section: "runner", Name: "device", State: Fail, Found: err.Error(),
		Why: "two benchmarks on one device would measure each other", Next: "let this user write the folder of that file",
	}
	if by != "" {
		c.Found = fmt.Sprintf("%q is held by %s: client and server are not looked at", name, by)
		c.Why, c.Next = "another benchgate measures, and a look would disturb it", "run doctor again when it is done"
	}
	d.add(c)
	return false, func() {}
}
