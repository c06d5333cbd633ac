package host

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestNVIDIADevicesAreCounted(t *testing.T) {
	for _, c := range []struct {
		name, out, label, driver string
		ids                      int
	}{
		{"one", "NVIDIA H200, 580.95.05, GPU-5b\n", "1 × NVIDIA H200", "580.95.05", 1},
		{"two alike", "NVIDIA A100-SXM4-80GB, 535.1, GPU-b\nNVIDIA A100-SXM4-80GB, 535.1, GPU-a\n", "2 × NVIDIA A100-SXM4-80GB", "535.1", 2},
		{"two kinds", "Tesla T4, 535.1, GPU-b\nNVIDIA A10, 535.1, GPU-a\n", "1 × NVIDIA A10 + 1 × Tesla T4", "535.1", 2},
		{"without an id", "NVIDIA GB10, 580.1, [N/A]\n", "1 × NVIDIA GB10", "580.1", 0},
	} {
		d, ok := parseNVIDIA(c.out)
		if !ok || d.label() != c.label || d.driver != c.driver || len(d.ids) != c.ids {
			t.Errorf("%s: %+v, %t, want %q", c.name, d, ok, c.label)
		}
		for i := 1; i < len(d.ids); i++ {
			if d.ids[i] < d.ids[i-1] {
				t.Errorf("%s: ids %v", c.name, d.ids)
			}
		}
	}
}

func TestAnAnswerInProseIsNoDevice(t *testing.T) {
	for name, out := range map[string]string{
		"nothing":           "",
		"no driver":         "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
		"prose with commas": "Unable to determine the device handle, for gpu 0000:01:00.0, Unknown Error\nRebooting, maybe, helps, or not\n",
		"broken device":     "[Unknown Error], 580.95.05, GPU-5b\n",
		"two drivers":       "NVIDIA H200, 580.1, a\nNVIDIA H200, 581.2, b\n",
		"an endless name":   strings.Repeat("x", 5000) + ", 580.1, a\n",
		"an open quote":     "\"NVIDIA, 580.1, a\n",
	} {
		if d, ok := parseNVIDIA(out); ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for name, out := range map[string]string{
		"nothing":    "",
		"prose":      "WARNING: No AMD GPUs specified\n",
		"no card":    `{"system": {"Driver version": "6.10.5"}}`,
		"nameless":   `{"card0": {"Unique ID": "0x1"}}`,
		"not a card": `{"card0": ["x"]}`,
		"null":       "null",
	} {
		if d, ok := parseROCm(out); ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestAMDDevicesAreCounted(t *testing.T) {
	data, err := os.ReadFile("testdata/rocm-smi.json")
	if err != nil {
		t.Fatal(err)
	}
	d, ok := parseROCm(string(data))
	want := devices{
		names:  []string{"AMD Instinct MI300X OAM", "AMD Instinct MI300X OAM"},
		driver: "6.10.5", ids: []string{"0x0b2c3d4e5f607183", "0x1b2c3d4e5f607182"},
	}
	if diff := cmp.Diff(want, d, cmp.AllowUnexported(devices{})); diff != "" || !ok {
		t.Errorf("(-want +got):\n%s", diff)
	}
	old, ok := parseROCm(`{"card0": {"Card series": "Radeon RX 7900 XTX", "Unique ID": "N/A"}}`)
	if !ok || old.label() != "1 × AMD Radeon RX 7900 XTX" || len(old.ids) != 0 {
		t.Errorf("keys of an older version: %+v, %t", old, ok)
	}
}

func TestTheKernelKnowsAMDDevices(t *testing.T) {
	node := func(gfx, id string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("cpu_cores_count 0\nsimd_count 304\ngfx_target_version " + gfx + "\nunique_id " + id + "\n")}
	}
	const nodes = "sys/class/kfd/kfd/topology/nodes/"
	d, ok := amdNodes(fstest.MapFS{
		nodes + "0/properties":      node("0", "0"), // a CPU
		nodes + "1/properties":      node("90402", "77"),
		nodes + "2/properties":      node("90402", "11"),
		"sys/module/amdgpu/version": {Data: []byte("6.10.5\n")},
	})
	want := devices{names: []string{"AMD gfx 90402", "AMD gfx 90402"}, driver: "6.10.5", ids: []string{"11", "77"}}
	if diff := cmp.Diff(want, d, cmp.AllowUnexported(devices{})); diff != "" || !ok {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d, ok := amdNodes(fstest.MapFS{nodes + "0/properties": node("0", "0")}); ok {
		t.Errorf("a machine with CPUs alone has %+v", d)
	}
}

func TestAppleTellsTheIDOfItsBoard(t *testing.T) {
	data, err := os.ReadFile("testdata/ioreg.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := platformUUID(string(data)); got != "564D4E2F-7A3C-5B11-9C0D-1A2B3C4D5E6F" {
		t.Errorf("id %q", got)
	}
	if got := platformUUID("no = \"such\"\nline\n"); got != "" {
		t.Errorf("id %q", got)
	}
}
