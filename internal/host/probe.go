package host

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// answerLimit bounds what a tool may print, in bytes.
const answerLimit = 1 << 20

// answer runs a tool and returns what it printed. False: there is no such tool, it failed, it took too long or it
// printed without end. Found says whether the tool exists at all.
func answer(ctx context.Context, tool string, args ...string) (out string, found, ok bool) {
	path, err := exec.LookPath(tool)
	if err != nil {
		return "", false, false
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	// What the tool started goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	w := &limited{cancel: cancel}
	cmd.Stdout = w
	if err := cmd.Run(); err != nil || w.full {
		return "", true, false
	}
	return w.b.String(), true, true
}

// limited keeps the first answerLimit bytes and stops the writer at the next.
type limited struct {
	b      bytes.Buffer
	full   bool
	cancel func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > answerLimit {
		l.full = true
		l.cancel()
		return len(p), nil
	}
	return l.b.Write(p)
}
