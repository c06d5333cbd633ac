package baseline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/repo/repotest"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// session is five sound runs, begun so many days after the first of November 2026.
func session(day int) bench.Session {
	started := time.Date(2026, 11, 1+day, 3, 0, 0, 0, time.UTC)
	s := bench.Session{
		ID: fmt.Sprintf("day-%d", day), Started: started,
		UnderTest: map[string]string{bench.KeyEngine: "vllm", bench.KeyVersion: "0.34", bench.KeyCommit: "c0ffee"},
		Visits:    []bench.Visit{{Number: 1, Started: started}},
	}
	for i := range 5 {
		s.Visits[0].Runs = append(s.Visits[0].Runs, bench.Run{
			Order: i + 1, Started: started.Add(time.Duration(i) * time.Minute), Duration: 20, Sent: 100, OK: 100,
			Metrics: map[string]float64{"ttft.p95": 0.1 + 0.001*float64(i), "error.ratio": 0},
		})
	}
	return s
}

// candidate is a digest as a campaign leaves it.
func candidate(runner, scenario string, day int) bench.Digest {
	return bench.Digest{
		Schema: bench.DigestSchema, Runner: runner, Scenario: scenario,
		MustMatch: map[string]string{bench.KeyMachine: "m1", bench.KeyWorkload: "w-" + scenario, bench.KeyModel: "Qwen/Qwen3-8B"},
		Sessions:  []bench.Session{session(day)},
	}
}

func runsOf(d *bench.Digest) []bench.Run { return d.Sessions[0].Visits[0].Runs }

func put(t *testing.T, name string, d bench.Digest) {
	t.Helper()
	putText(t, name, text(t, d))
}

func text(t *testing.T, d bench.Digest) string {
	t.Helper()
	var b bytes.Buffer
	if err := bench.WriteDigest(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func putText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree lists the files under a folder with their content.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		place, _ := filepath.Rel(folder, name)
		files[filepath.ToSlash(place)] = string(data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}

// repository is a git repository with one commit that holds baselines of h100, and is the working folder from now on.
func repository(t *testing.T) (folder, commit string) {
	t.Helper()
	folder, commit = repotest.New(t, map[string]string{
		"baselines/h100/chat.json":  text(t, candidate("h100", "chat", 0)),
		"baselines/h100/batch.json": text(t, candidate("h100", "batch", 0)),
		"baselines/README.md":       "kept by benchgate\n",
	})
	t.Chdir(folder)
	return folder, commit
}
