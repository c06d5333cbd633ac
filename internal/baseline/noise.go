package baseline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchgate/benchgate/internal/bench"
)

// SetNoise writes what a calibration found into a runner's baseline of one scenario, in place of what an earlier one found.
// Nothing else of the file changes. It is an error when there is no such baseline.
func SetNoise(folder, runner, scenario string, n bench.Noise) error {
	for what, name := range map[string]string{"runner": runner, "scenario": scenario} {
		if err := bench.CheckName(what, name); err != nil {
			return err
		}
	}
	name := filepath.Join(folder, runner, scenario+".json")
	if _, err := os.Stat(name); err != nil {
		return fmt.Errorf("store noise: %w", err)
	}
	unlock, err := lock(folder)
	if err != nil {
		return fmt.Errorf("store noise: %w", err)
	}
	defer unlock()
	d, err := onDisk(name).read()
	if err != nil {
		return fmt.Errorf("store noise: the baseline stays as it is: %w", err)
	}
	d.Noise = &n
	var b bytes.Buffer
	if err := bench.WriteDigest(&b, d); err != nil {
		return fmt.Errorf("store noise: %w", err)
	}
	_, err = writeAll(map[string][]byte{name: b.Bytes()})
	return err
}

// inherit is the noise that a baseline has once a candidate has joined it or taken its place: the newest calibration of the
// two. How far runs differ is a matter of the machine and the workload, not of the level, so a new epoch keeps it; where
// the candidate measured another workload or stands on another machine, nothing is known until it is calibrated there.
func inherit(old, head bench.Digest) *bench.Noise {
	switch {
	case len(bench.Compare(old, head).Incomparable) > 0:
		return head.Noise
	case old.Noise == nil || head.Noise != nil && head.Noise.Measured.After(old.Noise.Measured):
		return head.Noise
	}
	return old.Noise
}
