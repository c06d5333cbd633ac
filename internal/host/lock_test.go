package host

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// holdIn is set in a process that TestALockEndsWithItsProcess starts: it holds a lock in that folder until it is killed.
const holdIn = "BENCHGATE_TEST_HOLD_IN"

func TestMain(m *testing.M) {
	if folder := os.Getenv(holdIn); folder != "" {
		if _, err := lockIn(context.Background(), folder, "gpu", nil); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("locked\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or its parent is gone
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func hold(t *testing.T, folder, device string) func() error {
	t.Helper()
	unlock, err := lockIn(t.Context(), folder, device, func(msg string) { t.Errorf("waits: %s", msg) })
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

func TestADeviceIsHeldByOneAtATime(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		unlock := hold(t, folder, "gpu-1")
		other := hold(t, folder, "gpu-2")
		defer other()
		time.AfterFunc(25*time.Second, func() {
			if err := unlock(); err != nil {
				t.Error(err)
			}
		})
		var said []string
		start := time.Now()
		again, err := lockIn(t.Context(), folder, "gpu-1", func(msg string) { said = append(said, msg) })
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < 25*time.Second || waited > 25*time.Second+lockRetry {
			t.Errorf("waited %v", waited)
		}
		if len(said) != 3 || !strings.Contains(said[0], "held by process ") || !strings.Contains(said[2], "for 20s now") {
			t.Errorf("said %q", said)
		}
		if err := again(); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitingForALockCanBeGivenUp(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		defer hold(t, folder, "gpu")()
		stop := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(stop) })
		unlock, err := lockIn(ctx, folder, "gpu", nil)
		if !errors.Is(err, stop) || unlock != nil || !strings.Contains(err.Error(), `"gpu"`) {
			t.Errorf("error %v", err)
		}
	})
}

func TestALockEndsWithItsProcess(t *testing.T) {
	folder := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdIn+"="+folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	held := false
	unlock, err := lockIn(t.Context(), folder, "gpu", func(string) {
		held = true
		_ = cmd.Process.Kill()
	})
	if err != nil || !held {
		t.Fatalf("held %t, %v", held, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the other process ended by itself")
	}
}

func TestAnyNameMakesALockInItsFolder(t *testing.T) {
	seen := map[string]string{}
	for _, device := range []string{"gpu-1", "", "..", "../../etc/passwd", "a/b", "a_b", "a b", strings.Repeat("x", 5000), strings.Repeat("x", 5001), "\x00", "é"} {
		name := fileName(device)
		if strings.ContainsAny(name, "/\x00. ") || len(name) > 100 {
			t.Errorf("device %.20q has the file %q", device, name)
		}
		if other, same := seen[name]; same {
			t.Errorf("devices %.20q and %.20q share %q", device, other, name)
		}
		seen[name] = device
		folder := t.TempDir()
		unlock := hold(t, folder, device)
		files, err := filepath.Glob(filepath.Join(folder, "benchgate-*.lock"))
		if err != nil || len(files) != 1 {
			t.Errorf("device %.20q made %v, %v", device, files, err)
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
}

func TestALockDoesNotFollowALink(t *testing.T) {
	folder, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(folder, "benchgate-gpu.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := lockIn(t.Context(), folder, "gpu", nil); err == nil {
		t.Error("a link was locked")
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "precious" {
		t.Errorf("the file behind the link holds %q, %v", data, err)
	}
}

func TestAForeignFileIsNotQuoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	for text, want := range map[string]string{
		"":                             "another process",
		"\x1b[2Jrubbish\n":             "another process",
		"process 1 since now\nmore":    "process 1 since now",
		"process 1 \x1b[2J\n":          "another process",
		strings.Repeat("process ", 90): "another process",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := holder(path); got != want {
			t.Errorf("%q is quoted as %q, want %q", text, got, want)
		}
	}
}

func TestLocksLiveWhereEverybodySeesThem(t *testing.T) {
	one, two, resort := t.TempDir(), t.TempDir(), t.TempDir()
	none := filepath.Join(one, "none")
	for name, c := range map[string]struct{ folders, want []string }{
		"both":    {[]string{one, two}, []string{one, two}},
		"one":     {[]string{none, two}, []string{two}},
		"neither": {[]string{none, "/nowhere"}, []string{resort}},
	} {
		if diff := cmp.Diff(c.want, lockFolders("gpu", c.folders, resort)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, folder := range []string{one, two, resort} {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("files left behind: %v, %v", left, err)
		}
	}
	if _, err := lockIn(t.Context(), none, "gpu", nil); err == nil || !strings.Contains(err.Error(), `lock device "gpu"`) {
		t.Errorf("error %v", err)
	}
}

// Two users of whom only one can make files in the first folder still meet in the second; and where the first has left its
// file, in both.
func TestUsersOfDifferentRightsMeet(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	take := func(folder string) (func() error, error) {
		unlock, _, err := tryLockIn(folder, "gpu")
		return unlock, err
	}
	root, err := lockAll([]string{one, two}, take)
	if err != nil || root == nil {
		t.Fatalf("a free device: %v", err)
	}
	if other, err := lockAll([]string{two}, take); err != nil || other != nil {
		t.Errorf("held twice: %v", err)
	}
	if err := root(); err != nil {
		t.Fatal(err)
	}
	other, err := lockAll([]string{two}, take)
	if err != nil || other == nil {
		t.Fatalf("a device that was let go: %v", err)
	}
	if root, err := lockAll([]string{one, two}, take); err != nil || root != nil {
		t.Errorf("held twice: %v", err)
	}
	first, err := take(one) // was let go when the second was not to be had
	if err != nil || first == nil {
		t.Errorf("the first folder's is still held: %v", err)
	}
	for _, unlock := range []func() error{first, other} {
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
	if !there(lockOf(one, "gpu").Path()) || there(lockOf(one, "gpu-2").Path()) {
		t.Error("a lock's file is seen where it is, and nowhere else")
	}
}

func TestLockHoldsADevice(t *testing.T) {
	device := "test-" + short(t.TempDir())
	unlock, err := Lock(t.Context(), device, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, folder := range append(shared[:], os.TempDir()) {
			_ = os.Remove(lockOf(folder, device).Path())
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	if second, err := Lock(ctx, device, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("held twice: %v, %t", err, second != nil)
	}
	if second, by, err := TryLock(device); err != nil || second != nil || !strings.HasPrefix(by, "process ") {
		t.Errorf("held by %q, %v, %t", by, err, second != nil)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if again, _, err := TryLock(device); err != nil || again == nil || again() != nil {
		t.Errorf("a device that was let go: %v", err)
	}
}

func TestADeviceThatIsHeldIsNotWaitedFor(t *testing.T) {
	folder := t.TempDir()
	unlock, by, err := tryLockIn(folder, "gpu-1")
	if err != nil || unlock == nil || by != "" {
		t.Fatalf("a free device: held by %q, %v", by, err)
	}
	if again, by, err := tryLockIn(folder, "gpu-1"); err != nil || again != nil || !strings.HasPrefix(by, "process ") {
		t.Errorf("a held device: held by %q, %v", by, err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	hold(t, folder, "gpu-1")()
}
