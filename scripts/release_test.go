package scripts_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// release is what release.json says.
type release struct {
	Schema, Version, Go string
	Files               []struct{ OS, Arch, Name, SHA256 string }
}

// sources copies what is built of what git tracks, as it lies in the working tree, to a new folder.
func sources(t *testing.T, folder string) string {
	t.Helper()
	list, err := exec.Command("git", "-C", "..", "ls-files", "-z", "--", "*.go", "go.mod", "go.sum", "cmd", "internal", "schema", "scripts/release.sh").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if strings.Contains(name, "/testdata/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// build makes a release of one platform in a folder, and returns what lies in its dist, with what a machine may have set
// for itself.
func build(t *testing.T, folder, platform string, set ...string) map[string][]byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(folder, "scripts", "release.sh"), "v0.0.1-test")
	cmd.Env = append(append(os.Environ(), "PLATFORMS="+platform), set...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("release.sh: %v\n%s", err, out)
	}
	files := map[string][]byte{}
	entries, err := os.ReadDir(filepath.Join(folder, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, "dist", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = data
	}
	return files
}

// TestReleaseIsTheSameBytesWhereverItIsBuilt builds twice: in another folder, of another depth, from an empty build cache,
// with other settings of the environment.
func TestReleaseIsTheSameBytesWhereverItIsBuilt(t *testing.T) {
	if testing.Short() {
		return // two builds, one of them from nothing: make test-long
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	one := build(t, sources(t, filepath.Join(t.TempDir(), "one")), platform)
	other := build(t, sources(t, filepath.Join(t.TempDir(), "other", "and", "deeper")), platform,
		"GOCACHE="+t.TempDir(), "GOFLAGS=-race", "GOAMD64=v3", "GOEXPERIMENT=nogreenteagc", "CGO_ENABLED=1")
	if len(one) != 3 {
		t.Fatalf("%d files, want a binary, SHA256SUMS and release.json", len(one))
	}
	for name, data := range one {
		if !bytes.Equal(data, other[name]) {
			t.Errorf("%s differs between two folders", name)
		}
	}
}

func TestReleaseNamesEveryFileWithItsSum(t *testing.T) {
	if testing.Short() {
		return // a build for another platform: make test-long
	}
	files := build(t, sources(t, t.TempDir()), "darwin/arm64 linux/arm64")
	var got release
	if err := json.Unmarshal(files["release.json"], &got); err != nil {
		t.Fatal(err)
	}
	want := release{Schema: "benchgate.release/v1", Version: "v0.0.1-test", Go: runtime.Version(), Files: got.Files}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("release.json (-want +got):\n%s", diff)
	}
	var sums strings.Builder
	for _, f := range got.Files {
		if f.Name != "benchgate_v0.0.1-test_"+f.OS+"_"+f.Arch {
			t.Errorf("%s is named %q", f.OS+"/"+f.Arch, f.Name)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(files[f.Name])); got != f.SHA256 {
			t.Errorf("%s has the sum %s, release.json says %s", f.Name, got, f.SHA256)
		}
		sums.WriteString(f.SHA256 + "  " + f.Name + "\n")
	}
	if diff := cmp.Diff(string(files["SHA256SUMS"]), sums.String()); diff != "" || len(got.Files) != 2 {
		t.Errorf("release.json and SHA256SUMS differ (-sums +json):\n%s", diff)
	}
}

func TestReleaseRefusesWhatIsNoVersion(t *testing.T) {
	for _, version := range []string{"main", "1.2.3", "v1.2", "v1.2.3/../x", "v1.2.3 -X main.version=v9", "$(id)"} {
		out, err := exec.Command("./release.sh", version, t.TempDir()).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is no version") {
			t.Errorf("%q: error %v, said %s", version, err, out)
		}
	}
}
