package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
)

// selfGate is a copy of this repository's own gate in a new folder.
type selfGate struct {
	t              *testing.T
	folder, served string
}

// TestSlowerLoadPathOfOurOwnIsRed holds this repository's own gate, as benchgate.yaml has it, against two changes: one that
// changes nothing, and one that lets every read of the client sleep before it is stamped. The server is the same.
func TestSlowerLoadPathOfOurOwnIsRed(t *testing.T) {
	if testing.Short() {
		return // three campaigns in real time: make test-long
	}
	g := newSelfGate(t)
	if code, out := g.run(g.served, "run", "--scenario", "closed", "-o", "base"); code != 0 {
		t.Fatalf("run: exit %d\n%s", code, out)
	}
	g.asksWhatIsCommitted("base")
	if code, out := g.run(g.served, "baseline", "accept", "base", "--reason", "first session"); code != 0 {
		t.Fatalf("accept: exit %d\n%s", code, out)
	}
	if code, out := g.judged(g.served, "out-same"); code == 1 {
		t.Errorf("the same build is red:\n%s", out)
	}
	slow := g.build("slow", sleepsBeforeItStamps(t, g.folder))
	code, out := g.judged(slow, "out-slow")
	if code != 1 || !strings.Contains(out, "tpot.mean") || !strings.Contains(out, "regressed") {
		t.Errorf("a client that sleeps at every read: exit %d, want 1\n%s", code, out)
	}
}

// TestOurOwnGateMeasuresWhatBuildsItsClient: what is measured is built by this repository's own action.
func TestOurOwnGateMeasuresWhatBuildsItsClient(t *testing.T) {
	data, err := os.ReadFile("../../benchgate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("benchgate.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{
		"internal/openai/stream.go": true, "go.sum": true, "Makefile": true, "action.yml": true, "scripts/install-action.sh": true,
		".github/workflows/self-gate.yml": true, "docs/github.md": false, "scripts/fuzz.sh": false,
	} {
		if got, why := config.Needed(c.Paths, []string{file}); got != want {
			t.Errorf("a change of %s is measured: %t, %s", file, got, why)
		}
	}
}

// asksWhatIsCommitted holds what was measured just now against the committed baseline: only another machine may keep them apart.
func (g selfGate) asksWhatIsCommitted(out string) {
	g.t.Helper()
	committed, _, err := baseline.Read("../../baselines", "self")
	if err != nil {
		g.t.Fatal(err)
	}
	var names []string
	for _, d := range committed {
		names = append(names, d.Scenario)
	}
	if diff := cmp.Diff([]string{"closed", "open"}, names); diff != "" {
		g.t.Errorf("committed baselines (-want +got):\n%s", diff)
	}
	now, _, err := baseline.Read(filepath.Join(g.folder, out), "self")
	if err != nil {
		g.t.Fatal(err)
	}
	machine := []string{bench.KeyMachine, bench.KeyAccelerator, bench.KeyDriver}
	for _, f := range bench.Compare(committed[0], now[0]).Incomparable {
		if !slices.Contains(machine, f.Name) {
			g.t.Errorf("%s is %q in the committed baseline and %q now: measure it anew, as .github/workflows/self-gate.yml says", f.Name, f.Base, f.Head)
		}
	}
}

func newSelfGate(t *testing.T) selfGate {
	g := selfGate{t: t, folder: t.TempDir()}
	g.served = g.build("benchgate")
	config, err := os.ReadFile("../../benchgate.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(g.folder, "benchgate.yaml"), config, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g selfGate) build(name string, flags ...string) string {
	g.t.Helper()
	path := filepath.Join(g.folder, name)
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", path, ".")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("go build %v: %v\n%s", flags, err, out)
	}
	return path
}

// run runs a build where the gate lies.
func (g selfGate) run(binary string, args ...string) (int, string) {
	g.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = g.folder
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(g.folder, "state"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		g.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// judged measures with a build and judges what it measured.
func (g selfGate) judged(binary, out string) (int, string) {
	g.t.Helper()
	if code, said := g.run(binary, "run", "--fresh", "--scenario", "closed", "-o", out); code != 0 {
		g.t.Fatalf("run: exit %d\n%s", code, said)
	}
	return g.run(g.served, "gate", "-c", "benchgate.yaml", "--candidate", out)
}

// sleepsBeforeItStamps is the flag that builds a client whose every read is stamped four milliseconds late.
func sleepsBeforeItStamps(t *testing.T, folder string) string {
	t.Helper()
	source, err := filepath.Abs("../../internal/openai/conn.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	const stamp = "d.at = d.since()"
	if bytes.Count(text, []byte(stamp)) != 1 {
		t.Fatalf("%s stamps no longer by %q: slow it down elsewhere", source, stamp)
	}
	slow := filepath.Join(folder, "conn.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: slow}})
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(stamp), []byte("time.Sleep(4*time.Millisecond); "+stamp), 1)
	err = errors.Join(os.WriteFile(slow, text, 0o600), os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return "-overlay=" + filepath.Join(folder, "overlay.json")
}
