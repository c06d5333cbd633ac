package host

import (
	"context"
	"io/fs"
	"os"
	"strings"
)

func machineID(context.Context) string { return idFrom(os.DirFS("/")) }

// idFrom returns the id that the system was given at installation, else that of the board. A boot id will not do: it
// changes at every boot.
func idFrom(fsys fs.FS) string {
	for _, name := range []string{"etc/machine-id", "var/lib/dbus/machine-id", "sys/class/dmi/id/product_uuid"} {
		data, err := fs.ReadFile(fsys, name)
		id := strings.TrimSpace(string(data))
		if err == nil && len(id) >= 16 && id != "uninitialized" {
			return id
		}
	}
	return ""
}

func accelerators(ctx context.Context, _ string) devices { return find(ctx, os.DirFS("/")) }

// find asks each maker's tool, then the kernel. A tool that is there and cannot answer leaves the fact unknown: to say
// "none" of a machine whose driver has crashed would let it be compared with one that never had a device.
func find(ctx context.Context, fsys fs.FS) devices {
	nvidia, there, ok := answer(ctx, "nvidia-smi", nvidiaQuery...)
	if d, good := parseNVIDIA(nvidia); ok && good {
		return d
	}
	unknown := there
	rocm, there, ok := answer(ctx, "rocm-smi", rocmQuery...)
	if d, good := parseROCm(rocm); ok && good {
		return d
	}
	if d, good := amdNodes(fsys); good {
		return d
	}
	if unknown || there || exists(fsys, "dev/nvidia[0-9]*", "dev/kfd", "dev/accel/accel*") {
		return devices{}
	}
	if d, good := drmDevices(fsys); good {
		return d
	}
	if exists(fsys, "dev/dri/renderD*") {
		return devices{}
	}
	return noDevices()
}

// exists reports whether the kernel offers one of these devices.
func exists(fsys fs.FS, patterns ...string) bool {
	for _, pattern := range patterns {
		if found, err := fs.Glob(fsys, pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}
