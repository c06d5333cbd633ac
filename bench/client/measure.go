package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/benchgate/benchgate/internal/sim"
	"github.com/benchgate/benchgate/internal/stat"
)

const (
	open   = "open"
	closed = "closed"
)

// row is one tool under one load: what it reports, minus what the server recorded for the same requests.
type row struct {
	Tool    string `json:"tool"`
	Version string `json:"version"`
	Load    string `json:"load"` // open or closed
	Streams int    `json:"streams"`
	Round   int    `json:"round"`
	// Requests were sent, and Failed of them had no figure.
	Requests int `json:"requests"`
	Failed   int `json:"failed,omitempty"`
	// Why there are no figures, or why some requests failed: the tool's own words.
	Why string `json:"why,omitempty"`
	// Errors are the tool's quantile minus the server's, in ms; absent when the tool told none.
	TTFTErrorP50 *float64 `json:"ttft_error_p50_ms,omitempty"`
	TTFTErrorP99 *float64 `json:"ttft_error_p99_ms,omitempty"`
	TPOTErrorP99 *float64 `json:"tpot_error_p99_ms,omitempty"`
	CPUPerEvent  *float64 `json:"cpu_us_per_event,omitempty"`
	RSS          *float64 `json:"rss_mb,omitempty"`
	AchievedRate *float64 `json:"achieved_rate,omitempty"` // requests per second, by the server's clock
	WantedRate   float64  `json:"wanted_rate"`             // what a perfect client reaches
	// LostEvents are tokens that the server wrote and the tool does not count; absent where it does not tell.
	LostEvents *int `json:"lost_events,omitempty"`
	// LateP99 is how late requests were sent by the tool's own clock, in ms; absent where it does not tell.
	LateP99 *float64 `json:"late_p99_ms,omitempty"`
}

// tool is a client that can play a job: a command, and what its output says.
type tool struct {
	name    string
	command func(j job, folder string) (*exec.Cmd, error)
	read    func(j job, folder string, stdout []byte) (account, error)
}

// longest is how long a tool may take for a job: its streams ten times over, and 45 s to start and to sum up.
func (j job) longest() time.Duration {
	rounds := max(1, float64(j.Requests)/float64(j.Streams))
	return 45*time.Second + time.Duration(min(45, 10*rounds*lasts()))*time.Second
}

// measure lets a tool play a job against a server of its own.
func measure(ctx context.Context, t tool, j job, folder string) row {
	r := row{Tool: t.name, Load: j.Load, Streams: j.Streams, Requests: j.Requests, WantedRate: digits(float64(j.Streams) / lasts())}
	s, err := startServer()
	if err != nil {
		r.Why = err.Error()
		return r
	}
	j.Base, j.Model = s.base, s.model
	stdout, samples, why := play1(ctx, t, j, folder)
	records, err := s.stop()
	if why = errors.Join(why, err); why == nil {
		var a account
		if a, why = t.read(j, folder, stdout); why == nil {
			why = r.compare(a, records, samples)
		}
	}
	if why != nil {
		r.Why = strings.TrimSpace(why.Error())
	}
	return r
}

// play1 runs the tool to its end, or to its limit, with all its descendants.
func play1(ctx context.Context, t tool, j job, folder string) ([]byte, []sample, error) {
	cmd, err := t.command(j, folder)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.longest())
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := make(chan struct{})
	watched := watchTree(cmd.Process.Pid, stop)
	ended := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	ended()
	close(stop)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	samples := <-watched
	used := sample{at: time.Now(), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	samples = append(samples, used.after(samples))
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("not done within %v%s", j.longest(), lastWords(stdout.Bytes(), stderr.Bytes()))
	case err != nil:
		err = fmt.Errorf("%w%s", err, lastWords(stdout.Bytes(), stderr.Bytes()))
	}
	return stdout.Bytes(), samples, err
}

// lastWords is the last line of what a process said.
func lastWords(stdout, stderr []byte) string {
	for _, b := range [][]byte{stderr, stdout} {
		if lines := strings.Split(strings.TrimSpace(string(b)), "\n"); lines[len(lines)-1] != "" {
			return ": " + shorten(lines[len(lines)-1], 300)
		}
	}
	return ""
}

func shorten(s string, most int) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "?")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// compare fills in the figures.
func (r *row) compare(a account, records []sim.Record, samples []sample) error {
	r.Version = a.Version
	r.Failed = len(a.Failed)
	if len(a.Failed) > 0 {
		r.Why = shorten(a.Failed[0], 300)
	}
	truth := truthOf(records)
	if len(a.TTFT) == 0 || len(truth.ttft) == 0 {
		return errors.Join(errors.New("no request succeeded"), errors.New(r.Why))
	}
	if len(truth.ttft) != r.Requests {
		return fmt.Errorf("the server answered %d requests instead of %d", len(truth.ttft), r.Requests)
	}
	r.TTFTErrorP50 = apart(a.TTFT, truth.ttft, 0.50)
	r.TTFTErrorP99 = apart(a.TTFT, truth.ttft, 0.99)
	r.TPOTErrorP99 = apart(a.TPOT, truth.tpot, 0.99)
	cpu := cpuBetween(samples, truth.begin, truth.end.Add(afterwards)) / float64(truth.tokens) * 1e6
	rss := digits(peakMB(samples))
	cpu = digits(cpu)
	r.CPUPerEvent, r.RSS = &cpu, &rss
	rate := digits(truth.rate(r.Load))
	r.AchievedRate = &rate
	if a.Events > 0 {
		lost := truth.tokens - a.Events
		late := digits(1000 * a.Late)
		r.LostEvents, r.LateP99 = &lost, &late
	}
	return nil
}

// afterwards is how long after the last token a client's CPU still counts: it has that to read and to sum up.
const afterwards = 250 * time.Millisecond

// apart is the distance between a quantile of two samples, in ms.
func apart(said, is []float64, q float64) *float64 {
	s, err1 := stat.Quantile(said, q)
	t, err2 := stat.Quantile(is, q)
	if errors.Join(err1, err2) != nil {
		return nil
	}
	d := digits(1000 * (s - t))
	return &d
}

// truth is what the server recorded.
type truth struct {
	ttft, tpot  []float64
	tokens      int
	begin, last time.Time // the first and the last request came
	end         time.Time // the last token was written
}

func truthOf(records []sim.Record) truth {
	var t truth
	for _, r := range records {
		if r.First.IsZero() {
			continue
		}
		t.ttft = append(t.ttft, r.First.Sub(r.Received).Seconds())
		t.tpot = append(t.tpot, r.Last.Sub(r.First).Seconds()/float64(r.Tokens-1))
		t.tokens += r.Tokens
		if t.begin.IsZero() || r.Received.Before(t.begin) {
			t.begin = r.Received
		}
		if r.Received.After(t.last) {
			t.last = r.Received
		}
		if r.Last.After(t.end) {
			t.end = r.Last
		}
	}
	return t
}

// rate is how many requests a second came, or how many were served while the number in flight was given.
func (t truth) rate(load string) float64 {
	n := float64(len(t.ttft))
	if load == open {
		return (n - 1) / t.last.Sub(t.begin).Seconds()
	}
	return n / t.end.Sub(t.begin).Seconds()
}

// digits rounds to four digits.
func digits(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
