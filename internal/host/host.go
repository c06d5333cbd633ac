// Package host describes the machine that a benchmark runs on, so that numbers of two machines are never taken for one.
//
// A fact that a probe cannot establish is absent, never guessed: see [Facts]. While a run is measured a [Watcher] keeps
// account of the client's own faults, and [Lock] keeps two benchmarks from sharing one device.
package host

import (
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// None is the value of a fact that is known to be absent: a machine without an accelerator, a device without a driver.
const None = "none"

// Facts is what the probes found out about a machine. An empty or zero field is unknown.
type Facts struct {
	// Machine is a short hash of the machine's own id, its CPU model and its number of cores: the same at every boot and
	// for every user of the machine, another one when a virtual machine is resized.
	Machine string `json:"machine,omitempty"`
	// Accelerator is a count and a name, "2 × NVIDIA H100 80GB HBM3", or None when the machine has no such device.
	Accelerator string `json:"accelerator,omitempty"`
	// Driver is the whole version of the accelerator's driver; None when there is no accelerator or no driver of its own.
	Driver string `json:"driver,omitempty"`
	CPU    string `json:"cpu,omitempty"`
	Cores  int    `json:"cores,omitempty"`  // logical cores of the machine, not those that this process may use
	Memory uint64 `json:"memory,omitempty"` // bytes
	OS     string `json:"os,omitempty"`     // "ubuntu 24.04", "darwin 15.1"
	Kernel string `json:"kernel,omitempty"`
	// Devices are the accelerators' own ids, sorted; they name the lock and are not compared.
	Devices []string `json:"devices,omitempty"`
}

// MustMatch returns the facts that have to agree before two digests may be compared, by the keys of bench. An unknown
// fact has no entry. Of the driver only the major version counts.
func (f Facts) MustMatch() map[string]string {
	m := map[string]string{}
	put := func(key, value string) {
		if value != "" {
			m[key] = value
		}
	}
	put(bench.KeyMachine, f.Machine)
	put(bench.KeyAccelerator, f.Accelerator)
	put(bench.KeyDriver, major(f.Driver))
	return m
}

// Device names what two benchmarks must not share: the accelerators where there are any, else the machine. It is never
// empty: an unknown machine is "local", which is right for a lock that lives in the machine's own folder.
func (f Facts) Device() string {
	switch {
	case len(f.Devices) > 0:
		return "gpu-" + short(f.Devices...)
	case f.Machine != "":
		return "machine-" + f.Machine
	default:
		return "local"
	}
}

// major returns what stands before the first dot of a version.
func major(version string) string {
	before, _, _ := strings.Cut(version, ".")
	return before
}
