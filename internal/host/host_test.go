package host

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestOnlyKnownFactsMustMatch(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Facts
		want map[string]string
	}{
		{"nothing known", Facts{CPU: "x", Cores: 4, OS: "linux", Kernel: "6.1"}, map[string]string{}},
		{
			"all known",
			Facts{Machine: "0123456789ab", Accelerator: "1 × NVIDIA H200", Driver: "580.95.05"},
			map[string]string{bench.KeyMachine: "0123456789ab", bench.KeyAccelerator: "1 × NVIDIA H200", bench.KeyDriver: "580"},
		},
		{"no accelerator", Facts{Accelerator: None, Driver: None}, map[string]string{bench.KeyAccelerator: "none", bench.KeyDriver: "none"}},
		{"driver without dots", Facts{Driver: "12"}, map[string]string{bench.KeyDriver: "12"}},
	} {
		if diff := cmp.Diff(c.want, c.f.MustMatch()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestADeviceHasAName(t *testing.T) {
	gpu := Facts{Machine: "m", Devices: []string{"GPU-1", "GPU-2"}}.Device()
	other := Facts{Machine: "m", Devices: []string{"GPU-1"}}.Device()
	if !strings.HasPrefix(gpu, "gpu-") || gpu == other {
		t.Errorf("two sets of devices are called %q and %q", gpu, other)
	}
	if got := (Facts{Machine: "0123456789ab"}).Device(); got != "machine-0123456789ab" {
		t.Errorf("a machine is called %q", got)
	}
	if got := (Facts{}).Device(); got != "local" {
		t.Errorf("an unknown machine is called %q", got)
	}
}

func TestWordsWithMovedBoundariesHashDifferently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(1, 9, 40).Draw(t, "a"), rapid.String().Draw(t, "b")
		if short(a, b) == short(a+b) || len(short(a)) != 12 {
			t.Fatalf("%q %q", short(a, b), short(a+b))
		}
	})
}

func TestDescribingAMachineTwiceSaysTheSame(t *testing.T) {
	first, second := Describe(t.Context()), Describe(t.Context())
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	if first.Cores < 1 || first.Memory < 1<<20 || first.OS == "" || first.Kernel == "" {
		t.Errorf("what any machine tells is missing: %+v", first)
	}
}
