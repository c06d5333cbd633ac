package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/host"
)

// occupied is a lock of a name of its own, held from now on.
func occupied(t *testing.T) (name string, release func() error) {
	t.Helper()
	name = fmt.Sprintf("test-%d-%x", os.Getpid(), time.Now().UnixNano())
	release, by, err := host.TryLock(name)
	if err != nil || release == nil {
		t.Fatalf("held by %q, error %v", by, err)
	}
	t.Cleanup(func() {
		for _, folder := range []string{"/var/lock", "/tmp", os.TempDir()} {
			_ = os.Remove(filepath.Join(folder, "benchgate-"+name+".lock"))
		}
	})
	return name, release
}

func TestWaitingForTheDeviceIsOutsideTheBudget(t *testing.T) {
	name, release := occupied(t)
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		o := inTurn(t, "interleaved", 1, dial)
		o.Plan.Config.Campaign.Budget = 10 * time.Minute
		o.Lock, o.LockTimeout = name, 2*time.Hour
		var said []string
		o.Say = func(s string) { said = append(said, s) }
		time.AfterFunc(time.Hour, func() { _ = release() })
		begun := time.Now()
		if got := sidesOf(must(t, o).Log); got != "RCCRRCCR" {
			t.Errorf("sides stand %s", got)
		}
		if took := time.Since(begun); took < time.Hour || took > time.Hour+10*time.Minute {
			t.Errorf("it took %v", took)
		}
		if !strings.Contains(strings.Join(said, "\n"), "waiting for device \""+name+"\", held by process ") {
			t.Errorf("said %q", said)
		}
	})
}

func TestADeviceThatDoesNotComeFreeIsNamed(t *testing.T) {
	name, release := occupied(t)
	defer release()
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		o := inTurn(t, "interleaved", 1, dial)
		o.Lock, o.LockTimeout, o.Say = name, time.Hour, nil
		begun := time.Now()
		res, err := Run(t.Context(), o)
		var server *ServerError
		if !errors.As(err, &server) || !strings.Contains(server.Hint, "--lock-timeout") {
			t.Fatalf("error %v", err)
		}
		for _, want := range []string{`"` + name + `", held by process `, "benchgate-" + name + ".lock", "in time, 1h0m0s"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("it took %v", took)
		}
		if len(res.Log.Runs) > 0 || res.Log.Header.Schema != "" {
			t.Errorf("measured without the device: %+v", res.Log.Header)
		}
	})
}

func TestAnInterruptEndsTheWaitForTheDevice(t *testing.T) {
	name, release := occupied(t)
	defer release()
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		o := inTurn(t, "interleaved", 1, dial)
		o.Lock, o.LockTimeout, o.Say = name, time.Hour, nil
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		_, err := Run(ctx, o)
		var server *ServerError
		if !errors.Is(err, context.Canceled) || errors.As(err, &server) {
			t.Errorf("error %v", err)
		}
	})
}
