package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/benchgate/benchgate/internal/sim"
)

// The streams: a first token after 100 ms, then 50 tokens a second.
const (
	tokens = 100
	ttft   = 100 * time.Millisecond
	tpot   = 20 * time.Millisecond
)

// lasts is how long one stream takes, in seconds.
func lasts() float64 { return (ttft + (tokens-1)*tpot).Seconds() }

// serve is the server's process: it answers until its standard input ends, and then tells its records.
func serve(in io.Reader, out io.Writer) error {
	running, err := sim.Listen(sim.Options{Slots: 1 << 14, TTFT: ttft, TPOT: tpot}, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer running.Close()
	fmt.Fprintln(out, running.BaseURL(), running.Server().Model())
	_, _ = io.Copy(io.Discard, in)
	return json.NewEncoder(out).Encode(running.Server().Drain())
}

// server is a simulated server in a process of its own, so that its CPU and memory are nobody else's.
type server struct {
	cmd         *exec.Cmd
	in          io.Closer
	out         *bufio.Reader
	base, model string
}

func startServer() (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: pinned(self, "serve")}
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if _, err := fmt.Fscanln(s.out, &s.base, &s.model); err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	return s, nil
}

// stop ends the server and returns what it recorded.
func (s *server) stop() ([]sim.Record, error) {
	s.in.Close()
	var records []sim.Record
	err := json.NewDecoder(s.out).Decode(&records)
	if end := s.cmd.Wait(); err == nil {
		err = end
	}
	return records, err
}
