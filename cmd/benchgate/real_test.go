//go:build real

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/gate"
)

// realClient lets a client be late. These tests show what a server does, and they run where others work too: there the
// client's own limits would void run after run. The limits themselves have tests in virtual time.
const realClient = "{lateness: 1s, timer: off, sched: off, throttled: off}"

// realConfig is a closed loop of four on a llama-server of so many slots. With one slot instead of four a request waits for
// the whole answers of three others, and the shorter the prompts the more that is beside a first token of its own: no chat
// template, a few words. What two sessions on a machine on which others work may differ by is no server's fault: it has to
// stay below a tolerance that lies between the two.
const realConfig = `version: 1
runner: llama-cpu
target:
  base_url: http://127.0.0.1:{port}/v1
  model: gemma3-270m
  api: completions
  command: [%q, -m, %q, --alias, gemma3-270m, --host, 127.0.0.1, --port, "{port}", -c, "4096", -np, %q, -t, "1", --metrics]
  ready: {path: /health, within: 2m}
campaign: {design: committed, runs: %d, warmup: {requests: 4}, client: %s}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 8}
    output_tokens: 12
    load: {concurrency: 4, requests: 60}
    primary: {metric: ttft.p95, tolerance: 100%%, rule_out: 300%%}
gate:
  rules:
    - {metric: tpot.mean, tolerance: 100%%}
    - {metric: error.ratio, max: 5%%}
`

// machine is a folder with a state of its own, and the program run in it.
type machine struct {
	t      *testing.T
	folder string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	if os.Getenv("LLAMA_SERVER") == "" || os.Getenv("LLAMA_MODEL") == "" {
		t.Fatal("LLAMA_SERVER and LLAMA_MODEL are not set: run make test-real")
	}
	return machine{t, t.TempDir()}
}

func (m machine) path(name string) string { return filepath.Join(m.folder, name) }

// config writes a benchgate.yaml for a llama-server with so many slots.
func (m machine) config(name, slots string, runs int) string {
	m.t.Helper()
	text := fmt.Sprintf(realConfig, os.Getenv("LLAMA_SERVER"), os.Getenv("LLAMA_MODEL"), slots, runs, realClient)
	if err := os.WriteFile(m.path(name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return m.path(name)
}

// run runs the program and returns its exit code and what it wrote.
func (m machine) run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var out, talk bytes.Buffer
	getenv := func(key string) string {
		if key == "XDG_STATE_HOME" {
			return m.path("state")
		}
		return os.Getenv(key)
	}
	code = run(ctx, args, strings.NewReader(""), &out, &talk, getenv)
	m.t.Logf("benchgate %s\n-> exit %d\n%s%s", strings.Join(args, " "), code, out.String(), talk.String())
	return code, out.String(), talk.String()
}

func (m machine) must(args ...string) {
	m.t.Helper()
	if code, _, talk := m.run(m.t.Context(), args...); code != 0 {
		m.t.Fatalf("benchgate %s: exit %d\n%s", strings.Join(args, " "), code, talk)
	}
}

func (m machine) verdict(out string) gate.Verdict {
	m.t.Helper()
	v, err := readVerdict(filepath.Join(out, "verdict.json"))
	if err != nil {
		m.t.Fatal(err)
	}
	return v
}

// restless is the smallest change that is found four times in five, as a fraction, from which on a machine is too restless for
// a change of several times to be seen for sure.
const restless = 1.5

// slower holds a verdict against a change of several times: it is red, and the metric is named. Where the runs differ so
// much that even such a change may not be seen, inconclusive is the right answer, in a verdict that blocks nothing; the
// worsening stands in it all the same. It is never a pass.
func (m machine) slower(out, metric string, code int, told string) {
	m.t.Helper()
	for _, f := range m.verdict(out).Findings {
		if f.Metric != metric {
			continue
		}
		if f.Outcome == gate.Inconclusive && f.MDE80 != nil && *f.MDE80 > restless {
			m.t.Logf("this machine is too restless to tell: the smallest change that it finds is %.0f %%", 100**f.MDE80)
			if code != 0 || !strings.Contains(told, metric) {
				m.t.Errorf("%s is inconclusive, exit %d, want it named, exit 0:\n%s", metric, code, told)
			}
			if f.Base == nil || f.Head == nil || !(f.Head.Point > f.Base.Point) {
				m.t.Errorf("%s of a server several times slower is not above the other's: %+v against %+v", metric, f.Head, f.Base)
			}
			return
		}
		if f.Outcome != gate.Regressed || code != 1 || !strings.Contains(told, metric) {
			m.t.Errorf("%s is %s, exit %d, want it regressed and named, exit 1: %s\n%s", metric, f.Outcome, code, f.Why, told)
		}
		return
	}
	m.t.Errorf("%s has no finding:\n%s", metric, told)
}

// TestRealServerIsMeasuredAcceptedAndGated goes the whole way on a real llama-server: baseline, the same server again,
// the same server with one slot instead of four, and the same server killed in the middle of a run.
func TestRealServerIsMeasuredAcceptedAndGated(t *testing.T) {
	m := newMachine(t)
	conf := m.config("benchgate.yaml", "4", 4)
	baselines := m.path("baselines")
	m.must("run", "-c", conf, "-o", m.path("base"))
	m.must("baseline", "accept", m.path("base"), "--folder", baselines, "--who", "test-real", "--reason", "first session")
	accepted := tree(t, baselines)

	t.Run("the same server is not red", func(t *testing.T) {
		m.must("run", "-c", conf, "--baseline", baselines, "-o", m.path("same"), "--runs", "3")
		code, _, _ := m.run(t.Context(), "gate", "-c", conf, "--baseline", baselines, "--candidate", m.path("same"))
		if code != 0 {
			t.Errorf("exit %d for the same server: %s", code, m.verdict(m.path("same")).Summary)
		}
		accounted(t, m.verdict(m.path("same")))
	})
	t.Run("one slot instead of four is red and ttft.p95 is named", func(t *testing.T) {
		slow := m.config("one-slot.yaml", "1", 3)
		m.must("run", "-c", slow, "--baseline", baselines, "-o", m.path("one-slot"))
		code, told, _ := m.run(t.Context(), "gate", "-c", slow, "--baseline", baselines, "--candidate", m.path("one-slot"))
		m.slower(m.path("one-slot"), "ttft.p95", code, told)
		for _, f := range m.verdict(m.path("one-slot")).Findings {
			if said := strings.Join(f.Warnings, "\n"); f.Metric == "ttft.p95" && f.Outcome == gate.Regressed && !strings.Contains(said, "is the wait for a slot, the network, or the client") {
				t.Errorf("nothing is said of the wait for a slot: %s", said)
			}
		}
	})
	t.Run("a server killed in the middle of a run loses nothing and touches no baseline", func(t *testing.T) {
		killed := m.config("killed.yaml", "4", 4)
		go killAfter(t.Context(), m.path("state"), campaigns(m.path("state")), 100)
		code, _, talk := m.run(t.Context(), "run", "-c", killed, "--baseline", baselines, "-o", m.path("killed"))
		if code != 3 {
			t.Errorf("exit %d, want 3:\n%s", code, talk)
		}
		if n := requestsIn(t, filepath.Join(m.path("killed"), "llama-cpu", "campaign.jsonl")); n < 100 {
			t.Errorf("%d requests are on disk, want at least the 100 that had ended", n)
		}
		if got := tree(t, baselines); got != accepted {
			t.Errorf("the baselines changed:\n%s", got)
		}
	})
}

// TestWrongEndpointSaysWhatTheServerSaid puts a gateway before the server that sends chat prompts to /v1/completions.
func TestWrongEndpointSaysWhatTheServerSaid(t *testing.T) {
	m := newMachine(t)
	gateway := httptest.NewServer(wrongRoutes(t, startLlama(t)))
	defer gateway.Close()
	conf := m.config("benchgate.yaml", "4", 3)
	code, _, talk := m.run(t.Context(), "run", "-c", conf, "-o", m.path("out"),
		"--set", "target.command=[]", "--set", "target.api=chat", "--set", "target.base_url="+gateway.URL+"/v1", "--set", "target.ready.within=20s")
	if code != 3 {
		t.Errorf("exit %d, want 3", code)
	}
	if !strings.Contains(talk, "key 'prompt' not found") {
		t.Errorf("the server's own message is missing:\n%s", talk)
	}
}

// startLlama starts a llama-server of its own for a test and returns its address once it is healthy.
func startLlama(t *testing.T) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(os.Getenv("LLAMA_SERVER"), "-m", os.Getenv("LLAMA_MODEL"), "--host", "127.0.0.1", "--port", port, "-t", "1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); <-tick.C {
		resp, err := http.Get("http://" + address + "/health")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return &url.URL{Scheme: "http", Host: address}
		}
	}
	t.Fatal("llama-server is not healthy after a minute")
	return nil
}

// wrongRoutes passes everything on, but takes the chat endpoint for that of completions.
func wrongRoutes(t *testing.T, to *url.URL) http.Handler {
	t.Helper()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.URL.Path = strings.ReplaceAll(r.In.URL.Path, "/chat/completions", "/completions")
	}}
	return proxy
}

// killAfter kills this process's llama-servers once so many requests, and a whole run, stand in a campaign that is not
// among the old ones.
func killAfter(ctx context.Context, state string, old []string, requests int) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, f := range campaigns(state) {
			data, _ := os.ReadFile(f)
			if slices.Contains(old, f) || !bytes.Contains(data, []byte(`"run":{`)) || bytes.Count(data, []byte("\n{\"request\"")) < requests {
				continue
			}
			for _, pid := range llamaChildren() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
	}
}

// campaigns are the files of all campaigns, ended or not.
func campaigns(state string) []string {
	files, _ := filepath.Glob(filepath.Join(state, "benchgate", "*", "campaign.jsonl"))
	return files
}

// llamaChildren finds the llama-servers that this process started.
func llamaChildren() []int {
	var pids []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, s := range stats {
		data, err := os.ReadFile(s)
		if err != nil {
			continue
		}
		var pid, parent int
		var name, state string
		if _, err := fmt.Sscanf(string(data), "%d %s %s %d", &pid, &name, &state, &parent); err != nil {
			continue
		}
		if parent == os.Getpid() && strings.Contains(name, "llama") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func requestsIn(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range bytes.Split(data, []byte("\n")) {
		var r struct {
			Request json.RawMessage `json:"request"`
		}
		if json.Unmarshal(line, &r) == nil && r.Request != nil {
			n++
		}
	}
	return n
}

// tree is every file under a folder with its content.
func tree(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.WriteString(path + " " + strconv.Itoa(len(data)) + "\n" + string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
