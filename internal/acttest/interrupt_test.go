//go:build act

package acttest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cancelled makes the workflow say of its job bench what GitHub says of one that was cancelled: act calls it failed.
func cancelled(workflow string) string {
	return strings.NewReplacer("${{ join(needs.*.result, ',') }}", "success,cancelled", "${{ needs.bench.result }}", "cancelled").Replace(workflow)
}

// interrupt sends the process whose number is in a file what GitHub's runner sends a job that is cancelled, as soon as a
// campaign of the lab machine holds a run that was not there.
func interrupt(t *testing.T, state, file string) {
	t.Helper()
	watch(t, state, func() {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			return
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGINT)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// watch does something as soon as a campaign of the lab machine holds a run that is not there now.
func watch(t *testing.T, state string, do func()) {
	t.Helper()
	before := campaigns(t, state)
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for limit := time.Now().Add(3 * time.Minute); time.Now().Before(limit); <-tick.C {
			for name, runs := range campaigns(t, state) {
				if runs > before[name] {
					do()
					return
				}
			}
		}
		t.Error("no campaign came to a run")
	}()
}

// campaigns are the files of all campaigns that the lab machine knows, and how many runs each holds.
func campaigns(t *testing.T, state string) map[string]int {
	t.Helper()
	found := map[string]int{}
	names, err := filepath.Glob(filepath.Join(state, "benchgate", "*", "campaign.jsonl"))
	if err != nil {
		t.Error(err)
	}
	for _, name := range names {
		data, _ := os.ReadFile(name)
		found[name] = bytes.Count(data, []byte(`{"run":`))
	}
	return found
}

// killed cancels a whole run of the workflow by an interrupt of act, which kills the step that measures without a word before
// and judges nothing: the check is not green for that. No server is left.
func (w *world) killed(t *testing.T, f file, j job) {
	t.Helper()
	j.began = func(pid int) {
		watch(t, j.state, func() {
			if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
		})
	}
	got := w.play(t, j)
	if got.result("bench") != "failure" || !strings.Contains(got.all, "signal: killed") {
		t.Errorf("what measures was not killed:\n%s", tail(got.all))
	}
	if got.result("verdict") == "success" {
		t.Errorf("nothing was judged, and the check is green:\n%s", tail(got.all))
	}
	hidden(t, got, j.folder)
	ended(t, j.folder)
}
