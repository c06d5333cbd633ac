package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/gate"
)

// TestDemoComesOutAsItShould plays the demo in virtual time, where no other work on the machine can touch it: the draw
// that its seed gives is then the only chance in it.
func TestDemoComesOutAsItShould(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var out, talk bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		sh := &shell{
			ctx: t.Context(), stdin: strings.NewReader(""), stdout: &out, stderr: &talk, getenv: os.Getenv, now: time.Now,
			talk: newTalk(&talk, false, false, false, os.Getenv), memory: true,
		}
		if err := (demoCmd{Output: folder}).Run(sh); err != nil {
			t.Errorf("demo: %v", err)
		}
	})
	t.Log(out.String())
	for name, want := range map[string]gate.Outcome{"same-build": gate.Pass, "slower-build": gate.Regressed} {
		v, err := readVerdict(filepath.Join(folder, name, "verdict.json"))
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome != want || !v.Simulated {
			t.Errorf("%s is %s (simulated: %v), want %s", name, v.Outcome, v.Simulated, want)
		}
		page, err := os.ReadFile(filepath.Join(folder, name, "report.html"))
		if err != nil || !bytes.Contains(page, []byte("simulated")) {
			t.Errorf("%s: the report does not say that it is simulated (%v)", name, err)
		}
	}
}

// TestABusyMachineIsKnownByItsCause: .ci/run takes a demo that ends with exit 3 for this cause, and for no other.
func TestABusyMachineIsKnownByItsCause(t *testing.T) {
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("busy=%q", campaign.ErrSpoilt.Error()); !strings.Contains(string(script), want) {
		t.Errorf(".ci/run lacks %s", want)
	}
}
