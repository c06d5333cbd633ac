package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/config"
)

const toSet = `runner: q # a comment
target: # c
  base_url: http://127.0.0.1:{port}/v1
  command: [vllm,
    é] # d
campaign: {}
scenarios:
  chat:
    load: {rate: 8, requests: 160}
  'quoted':
    text: |
      two
      lines
    late:
gate:
  rules:
    - metric: tpot.mean
      tolerance: 5%
    - {metric: goodput.ratio, scenarios: [chat]}
    -
      metric: x.y
`

func TestSetChangesOneKey(t *testing.T) {
	for _, c := range []struct{ key, value, old, now string }{
		{"runner", "other", "runner: q #", "runner: other #"},
		{"scenarios.chat.load.rate", "6.5", "rate: 8,", "rate: 6.5,"},
		{"scenarios.chat.load.requests", "300", "160}", "300}"},
		{"scenarios.chat.load.rate", "inf", "rate: 8,", "rate: inf,"},
		{"gate.rules.0.tolerance", "7%", "tolerance: 5%", "tolerance: 7%"},
		{"gate.rules.2.metric", "z.w", "metric: x.y", "metric: z.w"},
		{"target.command", `[a, "{port}"]`, "[vllm,\n    é]", `["a","{port}"]`},
		{"target.base_url", "http://127.0.0.1:1/v1", "http://127.0.0.1:{port}/v1", `"http://127.0.0.1:1/v1"`},
		{"target.command.1", "two words", "é]", `"two words"]`},
		{"scenarios.quoted.more", "{a: 1}", "    text: |", "    more: {\"a\":1}\n    text: |"},
		{"runner", "two: words", "", ""},
		// what is not there yet
		{"version", "1", "runner: q", "version: 1\nrunner: q"},
		{"campaign.looks", "[6, 8]", "campaign: {}", "campaign: {looks: [6,8]}"},
		{"campaign.abort.errors", "10%", "campaign: {}", "campaign: {abort: {errors: 10%}}"},
		{"scenarios.chat.load.seed", "7", "{rate: 8", "{seed: 7, rate: 8"},
		{"target.model", `a "b"`, "  base_url", "  model: \"a \\\"b\\\"\"\n  base_url"},
		{"gate.rules.0.rule_out", "25%", "- metric: tpot", "- rule_out: 25%\n      metric: tpot"},
		{"gate.rules.1.min", "95%", "{metric: good", "{min: 95%, metric: good"},
		{"sampling.extra_body", "{top_p: 0.9}", "runner: q", "sampling: {extra_body: {\"top_p\":0.9}}\nrunner: q"},
	} {
		t.Run(c.key, func(t *testing.T) {
			got, err := config.Set([]byte(toSet), c.key, c.value)
			if c.old == "" {
				if err == nil {
					t.Errorf("%s accepted:\n%s", c.value, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Replace(toSet, c.old, c.now, 1), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetRefusesWhatHasNoPlace(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"", "1", `set "": this is no key`},
		{"a..b", "1", `set "a..b": this is no key`},
		{"a b", "1", `set "a b": this is no key`},
		{strings.Repeat("a.", 40) + "a", "1", "this is no key"},
		{"runner", "", "the value is empty or more than one value"},
		{"runner", "~", "the value is empty or more than one value"},
		{"runner", "a\nversion: 2", "the value has several lines"},
		{"runner", `"open`, "could not find end character"},
		{"runner", "a}", ""},
		{"campaign.budget", "60m, runs: 1", ""},
		{"runner", "*alias", "an alias (*) is not understood here"},
		{"runner", "{a: .inf}", "the value cannot be written"},
		{"runner.x", "1", `set "runner.x": runner is a value, it has no keys`},
		{"gate.rules.3.max", "1%", `set "gate.rules.3.max": gate.rules has 3 entries, counted from 0`},
		{"gate.rules.first", "1", "gate.rules has 3 entries"},
		{"scenarios", "1", "its value is a block of several lines"},
		{"gate.rules", "[]", "its value is a block of several lines"},
		{"scenarios.quoted.text", "1", "its value is a block of several lines"},
		{"scenarios.quoted.late.x", "1", "late stands there without a value"},
	} {
		got, err := config.Set([]byte(toSet), c.key, c.value)
		if c.want == "" { // odd, but a word: it must not get out of its place
			if err != nil {
				continue
			}
			if want := len(strings.Split(toSet, "\n")); len(strings.Split(string(got), "\n")) != want || value(t, got, c.key) != c.value {
				t.Errorf("%s=%s:\n%s", c.key, c.value, got)
			}
			continue
		}
		var e *config.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s=%s: want %q, got %v", c.key, c.value, c.want, err)
		}
	}
	for _, text := range []string{"", "a: [", "\x00", "- 1\n"} {
		if got, err := config.Set([]byte(text), "a.b", "1"); err == nil {
			t.Errorf("%q accepted: %q", text, got)
		}
	}
}

// value reads a key of a YAML text by another way than Set.
func value(t interface{ Fatalf(string, ...any) }, text []byte, key string) any {
	var v any
	p, err := yaml.PathString("$." + key)
	if err == nil {
		err = p.Read(strings.NewReader(string(text)), &v)
	}
	if err != nil {
		t.Fatalf("read %s of\n%s: %v", key, text, err)
	}
	return v
}

// What was set is read back, and nothing else has changed, whatever the text.
func TestSetThenReadGivesTheValue(t *testing.T) {
	keys := []string{
		"runner", "version", "target.model", "target.base_url", "campaign.budget", "campaign.abort.errors",
		"scenarios.chat.load.rate", "scenarios.chat.load.seed", "scenarios.chat.slo.ttft", "new.key.deep",
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom(keys).Draw(t, "key")
		want := rapid.StringMatching(`[ -~éü日]{1,20}`).Draw(t, "value")
		quoted := fmt.Sprintf("%q", want)
		text := toSet
		if rapid.Bool().Draw(t, "crlf") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		got, err := config.Set([]byte(text), key, quoted)
		if err != nil {
			t.Fatalf("set %s=%s: %v", key, quoted, err)
		}
		if v := value(t, got, key); v != want {
			t.Fatalf("set %s=%s, read back %q from\n%s", key, quoted, v, got)
		}
		again, err := config.Set(got, key, quoted)
		if err != nil || string(again) != string(got) {
			t.Fatalf("set twice: %v, (-once +twice):\n%s", err, cmp.Diff(string(got), string(again)))
		}
	})
}

func TestASetValueIsCheckedLikeAWrittenOne(t *testing.T) {
	data, err := config.Set([]byte(runner("r1")), "scenarios.chat.load.concurrency", "0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = config.Parse("x.yaml", data)
	if !strings.HasPrefix(errText(err), "x.yaml:8:25: scenarios.chat.load.concurrency: 0 is too small") {
		t.Errorf("got %v", err)
	}
}
