package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// python is a stand-in that greets as the script does and answers every line alike.
func python(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBootstrapServesEveryEffect(t *testing.T) {
	b, err := startBootstrapper(t.Context(), python(t, `echo '{"scipy": "1.2.3"}'; while read -r line; do echo '[-0.1, 0.2]'; done`))
	if err != nil {
		t.Fatal(err)
	}
	r := b.rule(committed)
	answers, err := r.batch([]*dataset{{base: []float64{1}, head: []float64{2}}, {base: []float64{1}, head: []float64{2}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	if r.code != "scipy 1.2.3" {
		t.Errorf("the code is %q", r.code)
	}
	got := []answer{answers[1].moved(0), answers[1].moved(0.2)}
	want := []answer{
		{word: pass, low: math.Exp(-0.1), high: math.Exp(0.2)},
		{word: block, low: 1.2 * math.Exp(-0.1), high: 1.2 * math.Exp(0.2)},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{}), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBrokenBootstrapIsAnError(t *testing.T) {
	for _, script := range []string{"exit 1", "echo no", "echo '{}'; exit 0", "echo '{}'; read -r line; echo '[1'"} {
		b, err := startBootstrapper(t.Context(), python(t, script))
		if err != nil {
			continue
		}
		if _, err := b.rule(committed).batch([]*dataset{{}}); err == nil {
			t.Errorf("%q: want an error", script)
		}
		_ = b.close()
	}
	if _, err := startBootstrapper(t.Context(), filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("want an error without a Python")
	}
}
