package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
)

var update = flag.Bool("update", false, "rewrite the golden files, then read the diff")

func files(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files match %q (%v)", pattern, err)
	}
	return names
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// golden compares with a file, or writes it under -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(readFile(t, name)), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestGoodConfigsMeanWhatTheySay(t *testing.T) {
	for _, name := range files(t, "testdata/ok/*.yaml") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			c, err := config.Parse(filepath.Base(name), readFile(t, name))
			if err != nil {
				t.Fatal(err)
			}
			out, err := yaml.MarshalWithOptions(c, yaml.UseLiteralStyleIfMultiline(true))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(name, ".yaml")+".out", string(out))
		})
	}
}

func TestBadConfigsShowTheLineAndAHint(t *testing.T) {
	for _, name := range files(t, "testdata/err/*.yaml") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			c, err := config.Parse(filepath.Base(name), readFile(t, name))
			if err == nil {
				t.Fatalf("accepted: %+v", c)
			}
			golden(t, strings.TrimSuffix(name, ".yaml")+".out", err.Error()+"\n")
		})
	}
}
