package baseline

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// calibrated is the noise that a calibration found so many days after the first of November 2026.
func calibrated(day int) *bench.Noise {
	return &bench.Noise{
		Measured: time.Date(2026, 11, 1+day, 4, 0, 0, 0, time.UTC), Design: "committed", Runs: 12,
		Metrics: map[string]bench.MetricNoise{"ttft.p95": {SD: 0.01 * float64(1+day), Workload: 0.01}},
	}
}

func TestNoiseIsStoredInABaselineAndNothingElseChanges(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "baselines")
	name := filepath.Join(folder, "h100", "chat.json")
	put(t, name, candidate("h100", "chat", 0))
	want, err := onDisk(name).read()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(folder, "h100", "batch.json"), candidate("h100", "batch", 0))
	before := tree(t, folder)
	for _, day := range []int{1, 2} {
		if err := SetNoise(folder, "h100", "chat", *calibrated(day)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := onDisk(name).read()
	if err != nil {
		t.Fatal(err)
	}
	want.Noise = calibrated(2)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	after := tree(t, folder)
	if len(after) != 2 || after["h100/batch.json"] != before["h100/batch.json"] {
		t.Errorf("another file changed: %d files", len(after))
	}
}

func TestNoiseOfNoBaselineIsAnError(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "baselines")
	if err := SetNoise(folder, "h100", "chat", *calibrated(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one about a file that is not there", err)
	}
	if err := SetNoise(folder, "../h100", "chat", *calibrated(1)); err == nil {
		t.Error("a runner that is a path was taken")
	}
	damaged := filepath.Join(folder, "h100", "chat.json")
	putText(t, damaged, "<<<<<<< ours\n")
	if err := SetNoise(folder, "h100", "chat", *calibrated(1)); err == nil {
		t.Error("a damaged baseline was taken")
	}
	if files := tree(t, folder); len(files) != 1 || files["h100/chat.json"] != "<<<<<<< ours\n" {
		t.Errorf("the damaged file was touched: %v", files)
	}
}

func TestNewestCalibrationStays(t *testing.T) {
	epoch := by("ada")
	epoch.NewEpoch, epoch.Reason = true, "new engine"
	for _, c := range []struct {
		name      string
		old, head *bench.Noise
		accept    Acceptance
		other     bool // the candidate measured another workload
		want      *bench.Noise
	}{
		{name: "a session without one is added", old: calibrated(1), accept: adding(), want: calibrated(1)},
		{name: "a newer one is added", old: calibrated(1), head: calibrated(2), accept: adding(), want: calibrated(2)},
		{name: "an older one is added", old: calibrated(2), head: calibrated(1), accept: adding(), want: calibrated(2)},
		{name: "the first is added", head: calibrated(1), accept: adding(), want: calibrated(1)},
		{name: "an epoch keeps it", old: calibrated(1), accept: epoch, want: calibrated(1)},
		{name: "an epoch brings its own", old: calibrated(1), head: calibrated(3), accept: epoch, want: calibrated(3)},
		{name: "an epoch of another workload drops it", old: calibrated(1), accept: epoch, other: true},
		{name: "an epoch of another workload brings its own", old: calibrated(3), head: calibrated(1), accept: epoch, other: true, want: calibrated(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "baselines")
			old, head := candidate("h100", "chat", 0), candidate("h100", "chat", 3)
			old.Noise, head.Noise = c.old, c.head
			if c.other {
				head.MustMatch[bench.KeyWorkload] = "another"
			}
			put(t, filepath.Join(folder, "h100", "chat.json"), old)
			if _, err := Accept(folder, []bench.Digest{head}, c.accept); err != nil {
				t.Fatal(err)
			}
			e, err := Show(folder, "h100", "chat")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, e.Digest.Noise); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
