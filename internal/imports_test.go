// Package internal_test keeps the directions in which the packages of this program may know each other.
package internal_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/benchgate/benchgate/internal/"

// mayImport is the architecture: a package, and the packages of this module that it may import. A new edge needs a line
// here and its reason in the commit.
var mayImport = map[string][]string{
	"stat":   {},
	"bench":  {"stat"},
	"gate":   {"bench", "stat"},
	"config": {"bench", "gate"},
	"openai": {"bench"},
	"load":   {"bench", "config", "openai"},
	// terminal: words of a server are kept, and shown, without what a terminal would obey; so is whatever else is foreign.
	"terminal": {},
	"server":   {"config", "openai", "terminal"},
	"host":     {"bench"},
	// stat: percentiles of the lateness of a client are taken by stat.Quantile and nowhere else.
	"campaign": {"bench", "config", "openai", "load", "server", "host", "sim", "stat"},
	"ingest":   {"bench"},
	// repo: baselines are read at a commit, and so are configs and the list of what a change touches.
	"baseline": {"bench", "repo"},
	// nightly: what it keeps are digests, and what it proposes are baselines.
	"nightly": {"baseline", "bench"},
	"repo":    {},
	// repotest makes repositories for tests; no line but theirs may name it.
	"repo/repotest": {},
	// artifact: results of another job are hostile until they are checked, whatever they hold.
	"artifact": {},
	// noise: what equal runs differ by is a matter of digests and of statistics, and of nothing else.
	"noise": {"bench", "stat"},
	// workflow is templates of text: what the action asks for stands in action.yml.
	"workflow": {},
	"report":   {"bench", "gate", "terminal"},
	"github":   {},
	"sim":      {},
	// acttest is tests alone, of the workflows on act.
	"acttest": {},
	// fused is a test alone, of verdicts on another processor.
	"fused": {},
	// world draws data for tests and for the commands under bench/; no line but theirs may name it.
	"world": {"bench", "stat"},
	// ghfake is a GitHub for tests; its command serves it to those that are not Go.
	"ghfake":       {},
	"ghfake/serve": {"ghfake"},
}

// onlyIn confines a library to the packages that are meant to know it.
var onlyIn = map[string][]string{
	"github.com/alecthomas/kong":            {},
	"github.com/goccy/go-yaml":              {"config"},
	"github.com/bmatcuk/doublestar":         {"config"},
	"github.com/getkin/kin-openapi":         {"ghfake"},
	"github.com/google/go-github":           {"github"},
	"github.com/montanaflynn/stats":         {"stat"},
	"github.com/go-analyze/charts":          {"report"},
	"github.com/prometheus":                 {"server"},
	"github.com/shirou/gopsutil":            {"host"},
	"github.com/sethvargo/go-githubactions": {"github"},
	// never where requests are timed: a retry there would be a request that nobody counts.
	"github.com/hashicorp/go-retryablehttp": {"github", "server"},
}

type listed struct {
	ImportPath string
	Imports    []string
	CgoFiles   []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,CgoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestPackagesKnowOnlyWhatTheTableAllows(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			continue
		}
		allowed, ok := mayImport[name]
		if !ok {
			t.Errorf("package %q is not in the table", name)
			continue
		}
		seen++
		for _, i := range p.Imports {
			if dep, ok := strings.CutPrefix(i, module); ok && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s, which the table does not allow", name, dep)
			}
		}
	}
	if seen < 10 {
		t.Errorf("saw only %d packages: is the test looking in the right place?", seen)
	}
}

func TestLibrariesStayWhereTheyBelong(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, i := range p.Imports {
			for lib, where := range onlyIn {
				if (i == lib || strings.HasPrefix(i, lib+"/")) && !slices.Contains(where, name) {
					t.Errorf("%s imports %s, which belongs to %v", name, i, where)
				}
			}
		}
	}
}

func TestNoPackageNeedsCgo(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.CgoFiles) > 0 {
			t.Errorf("%s has cgo files: %v", p.ImportPath, p.CgoFiles)
		}
	}
}
