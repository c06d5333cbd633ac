package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// probeTime bounds one probe. A tool that asks a sleeping driver can take many seconds.
const probeTime = 30 * time.Second

// Describe asks the machine for its facts. It takes at most a minute even when a driver hangs, and it cannot fail: what a
// probe did not establish is absent from the Facts.
func Describe(ctx context.Context) Facts {
	ctx, cancel := context.WithTimeout(ctx, 2*probeTime)
	defer cancel()
	f := Facts{}
	f.CPU, f.Cores = processor(ctx)
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		f.Memory = m.Total
	}
	if name, _, version, err := host.PlatformInformationWithContext(ctx); err == nil {
		f.OS = strings.TrimSpace(name + " " + version)
	}
	if v, err := host.KernelVersionWithContext(ctx); err == nil {
		f.Kernel = v
	}
	if id := machineID(ctx); id != "" {
		f.Machine = short(id, f.CPU, strconv.Itoa(f.Cores))
	}
	a := accelerators(ctx, f.CPU)
	f.Accelerator, f.Driver, f.Devices = a.label(), a.driver, a.ids
	return f
}

// short is a hash of words that is long enough to tell the machines of a company apart and too short to read back.
func short(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		h.Write([]byte(strconv.Itoa(len(w)) + ":" + w))
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
