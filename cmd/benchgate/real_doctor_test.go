//go:build real

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/schema"
)

// TestRealLlamaServerIsExamined: a llama-server of ours is started, found fit, and stopped.
func TestRealLlamaServerIsExamined(t *testing.T) {
	m := newMachine(t)
	found := m.examined("-c", m.config("benchgate.yaml", "4", 5))
	found.holds(map[string]string{
		"identity": "llama.cpp", "length": "max_tokens bounds it, and the server writes exactly so many tokens",
		"token counts": "usage", "stream": "token by token", "cached tokens": "told", "tokenizer": "/tokenize answers",
		"trial": "8 of 8 short answers came", "connections": "timeout=", "metrics": "answers with counters", "own account": "timings",
	})
}

// TestRealOllamaIsExaminedAndMeasured: Ollama obeys max_tokens alone, and no ignore_eos, so that a length is a ceiling.
func TestRealOllamaIsExaminedAndMeasured(t *testing.T) {
	m := newMachine(t)
	address := m.ollama()
	found := m.examined("--base-url", "http://"+address+"/v1", "--model", "gemma")
	found.holds(map[string]string{
		"identity": "ollama 0.17.4", "length": "max_tokens bounds it, as a ceiling", "token counts": "usage", "stream": "token by token",
	})
	// A slow machine honestly shows fewer than all of them within the time of a trial; none is a server that hangs.
	if trial := found.check("trial"); !(trial.Figures["ok"] >= 1) {
		t.Errorf("no answer of the trial came: %s", trial.Found)
	}

	conf := m.path("ollama.yaml")
	if err := os.WriteFile(conf, fmt.Appendf(nil, ollamaConfig, address, realClient), 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("run", "-c", conf, "-o", m.path("out"))
	d := m.digest(m.path("out"), "ollama-cpu", "chat")
	if got := d.MustMatch[bench.KeyOutput]; got != "ceiling" {
		t.Errorf("output is %q in the digest, want ceiling", got)
	}
	for k, want := range map[string]string{
		bench.KeyEngine: "ollama", bench.KeyVersion: "0.17.4", "limit_field": "max_tokens", "ignore_eos": "ignored", "usage": "told",
	} {
		if got := d.Sessions[0].UnderTest[k]; got != want {
			t.Errorf("%s is %q in the digest, want %q", k, got, want)
		}
	}
	t.Run("another limit field is refused before anything is measured", func(t *testing.T) {
		code, _, talk := m.run(t.Context(), "run", "-c", conf, "-o", m.path("other"), "--set", "target.limit_field=max_completion_tokens")
		if code != 3 || !strings.Contains(talk, "does not obey target.limit_field: max_completion_tokens") {
			t.Errorf("exit %d, want 3 and the limit field named:\n%s", code, talk)
		}
	})
}

// ollamaConfig is a short campaign against a server that is there already.
const ollamaConfig = `version: 1
runner: ollama-cpu
target: {base_url: "http://%[1]s/v1", model: gemma, ready: {path: /api/version, within: 1m}}
campaign: {design: committed, runs: 2, warmup: {requests: 1}, client: %[2]s}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {concurrency: 1, requests: 5}
    primary: {metric: ttft.p50}
`

// examined is what a doctor found.
type examinedServer struct {
	m machine
	campaign.Diagnosis
}

func (m machine) examined(args ...string) examinedServer {
	m.t.Helper()
	code, out, talk := m.run(m.t.Context(), append([]string{"doctor", "--json"}, args...)...)
	found := examinedServer{m: m}
	if err := json.Unmarshal([]byte(out), &found.Diagnosis); err != nil {
		m.t.Fatalf("%v:\n%s%s", err, out, talk)
	}
	if problems, err := schema.Check("doctor", []byte(out)); err != nil || len(problems) > 0 {
		m.t.Errorf("the document does not fit its schema: %v %v", err, problems)
	}
	if want := map[bool]int{true: 0, false: 3}[found.Fit]; code != want {
		m.t.Errorf("exit %d, want %d where fit is %v", code, want, found.Fit)
	}
	if failed := slices.ContainsFunc(found.Checks, func(c campaign.Check) bool { return c.State == campaign.Fail }); failed == found.Fit {
		m.t.Errorf("fit is %v, and a check that failed: %v", found.Fit, failed)
	}
	return found
}

// check is the one of the server that has this name.
func (e examinedServer) check(name string) campaign.Check {
	e.m.t.Helper()
	i := slices.IndexFunc(e.Checks, func(c campaign.Check) bool { return c.Section == "server" && c.Name == name })
	if i < 0 {
		e.m.t.Fatalf("%s was not looked at: %+v", name, e.Checks)
	}
	return e.Checks[i]
}

// holds checks what was found of the server: nothing that failed, and these words.
func (e examinedServer) holds(want map[string]string) {
	e.m.t.Helper()
	got := map[string]string{}
	for _, c := range e.Checks {
		if c.Section != "server" {
			continue // the client's own error is another matter on a busy machine
		}
		got[c.Name] = c.Found
		if c.State == campaign.Fail {
			e.m.t.Errorf("%s: %s", c.Name, c.Found)
		}
	}
	for name, words := range want {
		if !strings.Contains(got[name], words) {
			e.m.t.Errorf("%s is %q, want %q in it", name, got[name], words)
		}
	}
}

// ollama starts an Ollama of its own with the model gemma, and stops it, its runners too, when the test ends.
func (m machine) ollama() (address string) {
	m.t.Helper()
	program := os.Getenv("OLLAMA")
	if program == "" {
		m.t.Fatal("OLLAMA is not set: run make test-real")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	env := append(os.Environ(), "OLLAMA_HOST="+address, "OLLAMA_MODELS="+m.path("models"), "HOME="+m.path("home"), "OLLAMA_KEEP_ALIVE=10m")
	if err := os.Mkdir(m.path("home"), 0o700); err != nil {
		m.t.Fatal(err)
	}
	serve := exec.Command(program, "serve")
	serve.Env, serve.SysProcAttr = env, &syscall.SysProcAttr{Setpgid: true}
	if err := serve.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = syscall.Kill(-serve.Process.Pid, syscall.SIGKILL) // the group: its runners too
		_ = serve.Wait()
	})
	m.awaitHealth("http://" + address + "/api/version")
	if err := os.Symlink(os.Getenv("LLAMA_MODEL"), m.path("gemma.gguf")); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path("Modelfile"), []byte("FROM ./gemma.gguf\n"), 0o600); err != nil {
		m.t.Fatal(err)
	}
	create := exec.Command(program, "create", "gemma", "-f", "Modelfile")
	create.Dir, create.Env = m.folder, env
	if out, err := create.CombinedOutput(); err != nil {
		m.t.Fatalf("ollama create: %v\n%s", err, out)
	}
	return address
}

func (m machine) awaitHealth(url string) {
	m.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); <-tick.C {
		resp, err := http.Get(url)
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
	m.t.Fatalf("%s does not answer after a minute", url)
}
