package host

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMachineIDIsTheSystemsOwn(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const id, board = "3d1219c7c4c5404aaa1f6d2a48adfda4", "4c4c4544-0042-3510-8052-b4c04f4a3332"
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		want string
	}{
		{"installed", fstest.MapFS{"etc/machine-id": file(id + "\n"), "sys/class/dmi/id/product_uuid": file(board)}, id},
		{"only dbus", fstest.MapFS{"var/lib/dbus/machine-id": file(id + "\n")}, id},
		{"image without an id", fstest.MapFS{"etc/machine-id": file(""), "sys/class/dmi/id/product_uuid": file(board + "\n")}, board},
		{"not yet set", fstest.MapFS{"etc/machine-id": file("uninitialized\n")}, ""},
		{"only a boot id", fstest.MapFS{"proc/sys/kernel/random/boot_id": file(id)}, ""},
		{"nothing", fstest.MapFS{}, ""},
	} {
		if got := idFrom(c.fs); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// tools makes programs that stand before all others.
func tools(t *testing.T, scripts map[string]string) {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
}

func TestAcceleratorsAreFoundOrUnknownButNeverGuessed(t *testing.T) {
	node := fstest.MapFS{"dev/nvidia0": {}}
	uevent := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const broken = `echo "NVIDIA-SMI has failed"; exit 9`
	for _, c := range []struct {
		name    string
		scripts map[string]string
		fs      fstest.MapFS
		want    devices
	}{
		{"none", nil, fstest.MapFS{"dev/null": {}}, noDevices()},
		{
			"NVIDIA",
			map[string]string{"nvidia-smi": `echo "NVIDIA H200, 580.95.05, GPU-5b"`},
			node,
			devices{names: []string{"NVIDIA H200"}, driver: "580.95.05", ids: []string{"GPU-5b"}},
		},
		{
			"AMD",
			map[string]string{"rocm-smi": `echo '{"card0": {"Card Series": "AMD Instinct MI210"}}'`},
			fstest.MapFS{"dev/kfd": {}},
			devices{names: []string{"AMD Instinct MI210"}},
		},
		{
			"AMD beside a broken NVIDIA",
			map[string]string{"nvidia-smi": broken, "rocm-smi": `echo '{"card0": {"Card Series": "AMD Instinct MI210"}}'`},
			fstest.MapFS{},
			devices{names: []string{"AMD Instinct MI210"}},
		},
		{"a tool that fails", map[string]string{"nvidia-smi": broken}, fstest.MapFS{}, devices{}},
		{"a tool that says it found none", map[string]string{"nvidia-smi": `echo "No devices were found"`}, fstest.MapFS{}, devices{}},
		{"a tool without end", map[string]string{"rocm-smi": `while :; do echo '{"card0":'; done`}, fstest.MapFS{}, devices{}},
		{"a device that no tool describes", nil, node, devices{}},
		{
			"a graphics device", nil,
			fstest.MapFS{"dev/dri/renderD128": {}, "sys/class/drm/renderD128/device/uevent": uevent("DRIVER=i915\nPCI_ID=8086:56A0\n")},
			devices{names: []string{"PCI 8086:56a0"}, driver: "i915"},
		},
		{
			"a graphics device on a board", nil,
			fstest.MapFS{"sys/class/drm/renderD128/device/uevent": uevent("DRIVER=panfrost\nOF_COMPATIBLE_0=arm,mali-g610\n")},
			devices{names: []string{"arm,mali-g610"}, driver: "panfrost"},
		},
		{"a nameless graphics device", nil, fstest.MapFS{"dev/dri/renderD128": {}, "sys/class/drm/renderD128/device/uevent": uevent("DRIVER=x\n")}, devices{}},
		{"NVIDIA without its tool", nil, fstest.MapFS{"dev/nvidia0": {}, "sys/class/drm/renderD128/device/uevent": uevent("DRIVER=nvidia\nPCI_ID=10DE:2335\n")}, devices{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tools(t, c.scripts)
			got := find(t.Context(), c.fs)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(devices{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A driver that hangs holds nobody up: the tool, and what it started, is given up with its time.
func TestAToolThatHangsIsGivenUp(t *testing.T) {
	tools(t, map[string]string{"nvidia-smi": "/bin/sleep 1000 & /bin/sleep 1000"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if out, found, ok := answer(ctx, "nvidia-smi"); ok || !found || out != "" {
		t.Errorf("%q, found %t, ok %t", out, found, ok)
	}
}
