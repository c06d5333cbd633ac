package config_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/config"
)

func seeds(f *testing.F, add func(text []byte)) {
	f.Helper()
	for _, pattern := range []string{"testdata/ok/*.yaml", "testdata/err/*.yaml", "../../examples/*.yaml"} {
		for _, name := range files(f, pattern) {
			add(readFile(f, name))
		}
	}
}

// FuzzParse: no text makes the reader panic; a mistake has a place and a message; and a config that is accepted passes
// the schema and holds only numbers that can be used.
func FuzzParse(f *testing.F) {
	seeds(f, func(text []byte) { f.Add(text) })
	s := schema(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Parse("x.yaml", text)
		if err != nil {
			var e *config.Error
			if !errors.As(err, &e) || e.Message == "" || !strings.HasPrefix(err.Error(), "x.yaml") {
				t.Fatalf("no place or no message: %v", err)
			}
			return
		}
		if v, err := instance(text); err == nil {
			if err := s.Validate(v); err != nil {
				t.Fatalf("accepted, but the schema says: %v\n%s", err, text)
			}
		}
		usable(t, c)
	})
}

func usable(t *testing.T, c config.Config) {
	t.Helper()
	if len(c.Scenarios) == 0 || c.Runner == "" || c.Target.BaseURL == "" || c.Target.Model == "" {
		t.Fatalf("incomplete: %+v", c)
	}
	for _, s := range c.Scenarios {
		l := s.Load
		if (l.Rate > 0) == (l.Concurrency > 0) || math.IsInf(l.Rate, 0) || l.Requests < 1 || s.OutputTokens < 1 || !(l.Burstiness > 0) || s.At.Line < 1 {
			t.Fatalf("scenario that cannot be played: %+v", s)
		}
	}
	for _, r := range c.Policy.Rules {
		kinds := 0
		for _, v := range []*float64{r.Tolerance, r.Min, r.Max} {
			if v != nil {
				kinds++
				if !(*v >= 0) || math.IsInf(*v, 0) {
					t.Fatalf("limit that means nothing: %+v", r)
				}
			}
		}
		if kinds != 1 || r.RuleOut != nil && !(*r.RuleOut > *r.Tolerance) {
			t.Fatalf("rule that is not one of three kinds: %+v", r)
		}
	}
}

// FuzzSet: no key and value make it panic, and what it writes is YAML that has the same number of documents and keys at
// the root, but for the one that was set.
func FuzzSet(f *testing.F) {
	f.Add([]byte(toSet), "runner", "x")
	f.Add([]byte(toSet), "gate.rules.0.tolerance", "{a: [b, 'c d']}")
	f.Add([]byte(toSet), "campaign.looks", "[6, 8]")
	f.Add([]byte("{a: {b: 1}}"), "a.b", "]")
	f.Add([]byte("a: \"x\\\n  y\"\r\nb: 'é'"), "b", "\"\\u00e9\"")
	f.Add([]byte("a:\n- b: 1\n  c: 2\n- d"), "a.0.e", "1")
	f.Fuzz(func(t *testing.T, text []byte, key, value string) {
		before, err := instance(text)
		if err != nil {
			return
		}
		got, err := config.Set(text, key, value)
		if err != nil {
			return
		}
		after, err := instance(got)
		if err != nil {
			t.Fatalf("set %q=%q broke the text: %v\n%s\n---\n%s", key, value, err, text, got)
		}
		b, ok := before.(map[string]any)
		a, still := after.(map[string]any)
		if !ok || !still {
			return
		}
		root, _, _ := strings.Cut(key, ".")
		if strings.Trim(root, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return // a decoder may take such a key for a number and write it otherwise
		}
		delete(a, root)
		delete(b, root)
		if len(a) != len(b) {
			t.Fatalf("set %q=%q changed other keys:\n%s\n---\n%s", key, value, text, got)
		}
	})
}
