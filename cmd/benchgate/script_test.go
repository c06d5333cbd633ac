package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"benchgate": main})
}

// TestScripts runs every script under testdata/script: each is a user at a shell. Those under long start servers many times
// over; what they show of deciding is tested in virtual time too. The others lock no device but $LOCK, which is their own:
// what they show holds with another script beside them.
func TestScripts(t *testing.T) {
	t.Parallel()
	folders := []string{"testdata/script"}
	if !testing.Short() {
		folders = append(folders, "testdata/script/long")
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			p := scriptParams()
			p.Dir = folder
			testscript.Run(t, p)
		})
	}
}

func scriptParams() testscript.Params {
	return testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(e.WorkDir, "gitconfig"))
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))                                             // else each process ends a second late, and there are hundreds
			lock := fmt.Sprintf("script-%d-%s", os.Getpid(), strings.ReplaceAll(filepath.Base(e.WorkDir), "_", "-")) // of no other script's
			e.Setenv("LOCK", lock)
			e.Defer(func() { forgetLock(lock) })
			return os.WriteFile(filepath.Join(e.WorkDir, "gitconfig"),
				[]byte("[user]\nname = A Maintainer\nemail = maintainer@example.com\n[init]\ndefaultBranch = main\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"await":    await,
			"cut":      cut,
			"digest":   digest,
			"job":      job,
			"measured": measured,
			"github":   fakeGitHub,
			"tells":    tells,
			"many":     many,
		},
	}
}

// forgetLock removes a lock's file, wherever it was made.
func forgetLock(name string) {
	for _, folder := range []string{"/var/lock", "/tmp", os.TempDir()} {
		_ = os.Remove(filepath.Join(folder, "benchgate-"+name+".lock"))
	}
}

// exits CODE COMMAND… runs a command and holds its exit code against CODE.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var e interface{ ExitCode() int }
		if !asExit(err, &e) {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func asExit(err error, e *interface{ ExitCode() int }) bool {
	for err != nil {
		if x, ok := err.(interface{ ExitCode() int }); ok {
			*e = x
			return true
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return false
		}
		err = u.Unwrap()
	}
	return false
}

// await N TEXT GLOB waits until the files hold TEXT at least N times.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: await N TEXT GLOB")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); <-tick.C {
		files, err := filepath.Glob(ts.MkAbs(args[2]))
		ts.Check(err)
		seen := 0
		for _, f := range files {
			data, _ := os.ReadFile(f)
			seen += bytes.Count(data, []byte(args[1]))
		}
		if seen >= n {
			return
		}
	}
	ts.Fatalf("%q did not come %d times in a minute", args[1], n)
}

// cut FILE BYTES keeps only the first bytes of a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE BYTES")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}
