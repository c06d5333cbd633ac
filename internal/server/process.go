package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/benchgate/benchgate/internal/config"
)

// process is the command under way, the leader of a process group.
type process struct {
	group   int // its id is the leader's pid
	log     logFile
	started time.Time
	exited  chan struct{} // closed when the leader is over
	mu      sync.Mutex
	how     error // how the leader ended; nil while it runs
	emptied bool  // the group was seen empty: its number may be another's by now
	guard   *guard
}

// spawn starts the command in a process group of its own.
func spawn(o Options, port string) (*process, error) {
	args := filled(o.Target.Command, port)
	if info, err := os.Stat(folder(o)); folder(o) != "" && (err != nil || !info.IsDir()) {
		return nil, &Error{
			err:  fmt.Errorf("start %q: its folder %q is not there", args[0], folder(o)),
			hint: "the dir of target and reference is relative to the config file; a checkout of another commit comes by git worktree add DIR COMMIT",
		}
	}
	if o.Log == "" {
		return nil, errors.New("no log file named for the server's output")
	}
	out, log, err := openLog(o.Log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program(args[0], o.Target.Env["PATH"]), args[1:]...)
	cmd.Dir = folder(o)
	cmd.Env = o.environment(port)
	cmd.Stdout, cmd.Stderr = out, out // the file itself: no copying, and no waiting for a grandchild that holds a pipe
	cmd.SysProcAttr = groupOfItsOwn()
	p := &process{log: log, started: time.Now(), exited: make(chan struct{})}
	if err := p.run(cmd); err != nil {
		return nil, notStarted(args[0], err)
	}
	p.guard = watchOver(p.group)
	return p, nil
}

// program finds a command by the PATH that target.env sets, as the command itself will.
func program(name, path string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return name
}

// Program is the file that the command of a target starts, from the folder of its config, as far as that can be told; "" where
// there is no command, or no such program on this machine.
func Program(t config.Target, of string) string {
	if len(t.Command) == 0 {
		return ""
	}
	name := program(t.Command[0], t.Env["PATH"])
	if !strings.ContainsRune(name, filepath.Separator) {
		found, err := exec.LookPath(name)
		if err != nil {
			return ""
		}
		name = found
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder(Options{Target: t, Folder: of}), name)
}

func folder(o Options) string {
	if filepath.IsAbs(o.Target.Dir) {
		return o.Target.Dir
	}
	return filepath.Join(o.Folder, o.Target.Dir)
}

func notStarted(name string, err error) error {
	err = fmt.Errorf("start %q: %w", name, err)
	if errors.Is(err, exec.ErrNotFound) {
		return &Error{err: err, hint: "is it installed on this machine, and on the PATH of this job?"}
	}
	return &Error{err: err}
}

// run starts the command and waits for it, both on one thread that lives as long as the command: Linux ties the signal of
// a parent's death to the thread that forked (prctl(2), PR_SET_PDEATHSIG).
func (p *process) run(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.group = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		err = cmd.Wait()
		p.mu.Lock()
		p.how = p.ending(cmd.ProcessState, err)
		p.mu.Unlock()
		close(p.exited)
	}()
	return <-started
}

// ending says how the leader ended.
func (p *process) ending(state *os.ProcessState, err error) error {
	after := time.Since(p.started).Round(100 * time.Millisecond)
	if state == nil {
		return fmt.Errorf("the process was lost after %s: %w", after, err)
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && status.Signal() == syscall.SIGKILL:
		return hinted("the system may have run out of memory: see its kernel log", "the process ended after %s: %s", after, state)
	case ok && status.Signaled() && status.Signal() == syscall.SIGILL:
		return hinted("it was built for another processor than this machine's", "the process ended after %s: %s", after, state)
	case state.Success():
		return hinted("the command must stay in the foreground for as long as the server runs", "the process ended after %s: %s", after, state)
	}
	return fmt.Errorf("the process ended after %s: %s", after, state)
}

// fate is how the leader ended, nil while it runs.
func (p *process) fate() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.how
}

// over says whether no process of the group is left. The leader counts until it was waited for.
func (p *process) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.emptied && p.how != nil {
		p.emptied = !groupAlive(p.group)
	}
	return p.emptied
}

// signal sends a signal to the whole group, unless there is none any more.
func (p *process) signal(sig syscall.Signal) {
	if !p.over() {
		_ = syscall.Kill(-p.group, sig) // gone meanwhile, at worst
	}
}
