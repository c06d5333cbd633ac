package server

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// guard is a small shell that kills the server's process group when this program dies without stopping it, by SIGKILL
// say: the shell reads from a pipe that only this program holds, and a pipe without writers ends.
type guard struct {
	pipe io.WriteCloser
	done chan struct{}
}

const (
	guardScript = `read -r word; test "$word" = stopped || kill -s KILL -- "-$1"`
	guardOff    = "stopped\n"
)

// watchOver posts a guard. Where there is no shell there is none: nil.
func watchOver(group int) *guard {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "sh", strconv.Itoa(group))
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's interrupt is not for it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	if err := cmd.Start(); err != nil {
		return nil
	}
	g := &guard{pipe: pipe, done: make(chan struct{})}
	go func() {
		defer close(g.done)
		_ = cmd.Wait() // its exit says nothing
	}()
	return g
}

// dismiss ends the guard and waits for it.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	fmt.Fprint(g.pipe, guardOff) // an error means that it is gone
	g.pipe.Close()
	<-g.done
}
