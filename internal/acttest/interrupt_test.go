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
	return strings.ReplaceAll(workflow, "${{ join(needs.*.result, ',') }}", "success,cancelled")
}

// interrupt sends the process whose number is in a file what GitHub's runner sends a job that is cancelled, as soon as a new
// campaign holds a run.
func (w *world) interrupt(t *testing.T, file string) {
	t.Helper()
	before := w.campaigns(t)
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for limit := time.Now().Add(3 * time.Minute); time.Now().Before(limit); <-tick.C {
			for name := range w.campaigns(t) {
				data, _ := os.ReadFile(name)
				if before[name] || bytes.Count(data, []byte(`{"run":`)) == 0 {
					continue
				}
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
				return
			}
		}
		t.Error("no campaign came to a run")
	}()
}

// campaigns are the files of all campaigns that the lab machine knows.
func (w *world) campaigns(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	names, err := filepath.Glob(filepath.Join(w.folder, "state", "benchgate", "*", "campaign.jsonl"))
	if err != nil {
		t.Error(err)
	}
	for _, name := range names {
		found[name] = true
	}
	return found
}
