//go:build real

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// cacheConfig asks a llama-server with a cache for each request what chat.jsonl holds, in each of two runs and before.
const cacheConfig = `version: 1
runner: llama-cpu
target:
  base_url: http://127.0.0.1:{port}/v1
  model: gemma3-270m
  command: [%[1]q, -m, %[2]q, --alias, gemma3-270m, --host, 127.0.0.1, --port, "{port}", -c, "4096", -np, "1", -t, "1", --jinja, --chat-template, %[3]q]
  ready: {path: /health, within: 2m}
campaign: {design: committed, runs: 2, warmup: {requests: 1}, client: %[4]s}
scenarios:
  chat:
    dataset: {kind: jsonl, path: chat.jsonl}
    output_tokens: 4
    load: {concurrency: 1, requests: 5, reuse_prompts: %[5]t}
    primary: {metric: ttft.p50}
`

const (
	// wholeTemplate hands on what was sent; cutTemplate leaves out its first ten characters: the salt and the space behind.
	wholeTemplate = "{% for m in messages %}{{ m.content }}{% endfor %}"
	cutTemplate   = "{% for m in messages %}{{ m.content[10:] }}{% endfor %}"
)

// cacheConf writes a config and the prompts, each of about sixty tokens that it shares with no other.
func (m machine) cacheConf(template string, reuse bool) string {
	m.t.Helper()
	words := strings.Fields("sea boat harbour net horse road market apple honey copper pipe street town work lamp window river stone bread winter")
	var prompts strings.Builder
	for i := range 5 {
		fmt.Fprint(&prompts, `{"prompt": "`)
		for j := range 60 {
			fmt.Fprint(&prompts, words[(7*i+(i+1)*j)%len(words)], " ")
		}
		fmt.Fprintln(&prompts, `"}`)
	}
	text := fmt.Sprintf(cacheConfig, os.Getenv("LLAMA_SERVER"), os.Getenv("LLAMA_MODEL"), template, realClient, reuse)
	conf := m.path("benchgate.yaml")
	if err := errors.Join(os.WriteFile(m.path("chat.jsonl"), []byte(prompts.String()), 0o600), os.WriteFile(conf, []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
	return conf
}

// digest reads a scenario's digest of a campaign.
func (m machine) digest(out, runner, scenario string) bench.Digest {
	m.t.Helper()
	f, err := os.Open(filepath.Join(out, runner, scenario+".json"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	d, err := bench.ReadDigest(f, f.Name())
	if err != nil {
		m.t.Fatal(err)
	}
	return d
}

// cached are the shares of prompt tokens that a digest's runs took from the server's cache.
func (m machine) cached(d bench.Digest) []float64 {
	m.t.Helper()
	var all []float64
	for _, s := range d.Sessions {
		for _, r := range s.Runs() {
			if !r.Sound() || r.OK != r.Sent || r.CachedTokens == nil {
				m.t.Fatalf("run %d: invalid %q, void %q, %d of %d answers, cached tokens %v", r.Order, r.Invalid, r.Void, r.OK, r.Sent, r.CachedTokens)
			}
			all = append(all, *r.CachedTokens)
		}
	}
	if len(all) == 0 {
		m.t.Fatal("the digest has no runs")
	}
	return all
}

// TestRealPromptCacheIsSeen: llama-server keeps prompts unless told otherwise. Salted prompts do not meet them; the same
// prompts again are told as what they are; and where they are asked for that is another workload.
func TestRealPromptCacheIsSeen(t *testing.T) {
	m := newMachine(t)
	m.must("run", "-c", m.cacheConf(wholeTemplate, false), "-o", m.path("salted"))
	salted := m.digest(m.path("salted"), "llama-cpu", "chat")
	for _, share := range m.cached(salted) {
		if share > 0.1 {
			t.Errorf("%.0f %% of salted prompts came from a cache", 100*share)
		}
	}

	code, _, talk := m.run(t.Context(), "run", "-c", m.cacheConf(cutTemplate, false), "-o", m.path("cut"))
	if code != 3 || !strings.Contains(talk, "the server's cache was warm: it took") {
		t.Errorf("exit %d for a server that meets the same prompts again, want 3 and the figure:\n%s", code, talk)
	}

	m.must("run", "-c", m.cacheConf(cutTemplate, true), "-o", m.path("reused"))
	reused := m.digest(m.path("reused"), "llama-cpu", "chat")
	for _, share := range m.cached(reused) {
		if share < 0.5 {
			t.Errorf("only %.0f %% of prompts that were asked for again came from a cache", 100*share)
		}
	}
	if a, b := salted.MustMatch[bench.KeyWorkload], reused.MustMatch[bench.KeyWorkload]; a == b || a == "" || b == "" {
		t.Errorf("the workload is %q with salted prompts and %q with reused ones", a, b)
	}
}

// datasetsConfig asks little of the other kinds of datasets. Without --swa-full this model's cache keeps no beginnings.
const datasetsConfig = `version: 1
runner: llama-cpu
target:
  base_url: http://127.0.0.1:{port}/v1
  model: gemma3-270m
  command: [%[1]q, -m, %[2]q, --alias, gemma3-270m, --host, 127.0.0.1, --port, "{port}", -c, "4096", -np, "4", -t, "1", --swa-full]
  ready: {path: /health, within: 2m}
campaign: {design: committed, runs: 1, warmup: {requests: 1}, client: %[3]s}
scenarios:
  conversations:
    dataset: {kind: sharegpt, path: %[4]q, max_input_tokens: 64}
    output_tokens: 8
    load: {concurrency: 4, requests: 8}
  documents:
    dataset: {kind: prefix, prefix_tokens: 64, groups: 2, input_tokens: 8}
    output_tokens: 4
    load: {concurrency: 1, requests: 8}
`

// TestRealServerAnswersEveryDataset: conversations and shared prefixes are measured on a llama-server. That it keeps the
// prefixes of a run is what such a dataset is for, and no warm cache.
func TestRealServerAnswersEveryDataset(t *testing.T) {
	m := newMachine(t)
	questions, err := filepath.Abs("../../examples/sharegpt.json")
	if err != nil {
		t.Fatal(err)
	}
	conf, out := m.path("benchgate.yaml"), m.path("out")
	text := fmt.Sprintf(datasetsConfig, os.Getenv("LLAMA_SERVER"), os.Getenv("LLAMA_MODEL"), realClient, questions)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("run", "-c", conf, "-o", out)
	m.cached(m.digest(out, "llama-cpu", "conversations"))
	for _, share := range m.cached(m.digest(out, "llama-cpu", "documents")) {
		if share < 0.2 {
			t.Errorf("only %.0f %% of prompts that begin alike came from a cache", 100*share)
		}
	}
}
