package config_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
)

func TestAChangeIsMeasuredWhereItTouchesWhatCounts(t *testing.T) {
	engine := []string{"engine/**", "go.mod", "*.lock"}
	inputs := []string{"ci/gate.yaml", "data/prompts.jsonl"}
	for name, c := range map[string]struct {
		paths, changed []string
		needed         bool
		why            string
	}{
		"no paths":                      {nil, []string{"README.md"}, true, "gate.paths is not set, so every change is measured"},
		"no paths and no change":        {nil, nil, true, "gate.paths is not set, so every change is measured"},
		"nothing is changed":            {engine, nil, false, "it touches no file"},
		"a file in the folder":          {engine, []string{"README.md", "engine/a/b.go"}, true, `it touches "engine/a/b.go", which counts by "engine/**"`},
		"a file by name":                {engine, []string{"go.mod"}, true, `it touches "go.mod", which counts by "go.mod"`},
		"that name elsewhere":           {engine, []string{"tools/go.mod"}, false, `the one file it touches, "tools/go.mod", does not count by gate.paths: "engine/**", "go.mod", "*.lock"`},
		"others":                        {engine, []string{"README.md", "docs/x.md"}, false, `none of the 2 files it touches ("README.md", "docs/x.md") counts by gate.paths: "engine/**", "go.mod", "*.lock"`},
		"a star stays in its folder":    {engine, []string{"a/b.lock"}, false, `the one file it touches, "a/b.lock", does not count by gate.paths: "engine/**", "go.mod", "*.lock"`},
		"a folder without stars":        {[]string{"engine"}, []string{"engine/a/b.go"}, true, `it touches "engine/a/b.go", which counts by "engine"`},
		"a folder with a slash":         {[]string{"engine/"}, []string{"engine/a.go"}, true, `it touches "engine/a.go", which counts by "engine/"`},
		"a folder is not its beginning": {[]string{"engine"}, []string{"engines/a.go"}, false, `the one file it touches, "engines/a.go", does not count by gate.paths: "engine"`},
		"alternatives":                  {[]string{"{engine,kernel}/**/*.{c,h}"}, []string{"kernel/x/y.h"}, true, `it touches "kernel/x/y.h", which counts by "{engine,kernel}/**/*.{c,h}"`},
		"the config":                    {engine, []string{"benchgate.yaml"}, true, `it touches "benchgate.yaml", which counts by "**/benchgate.yaml"`},
		"a config of a folder":          {engine, []string{"benchgate/h100.yaml"}, true, `it touches "benchgate/h100.yaml", which counts by "**/benchgate/*.yaml"`},
		"a baseline":                    {engine, []string{"serving/baselines/h100/chat.json"}, true, `it touches "serving/baselines/h100/chat.json", which counts by "**/baselines/**"`},
		"a config of another name":      {engine, []string{"ci/gate.yaml"}, true, `it touches "ci/gate.yaml", which the config reads`},
		"a folder in another case":      {engine, []string{"ENGINE/a.go"}, true, `it touches "ENGINE/a.go", which counts by "engine/**"`},
		"a glob in another case":        {[]string{"Engine/[A-C]*"}, []string{"engine/b.go"}, true, `it touches "engine/b.go", which counts by "Engine/[A-C]*"`},
		"a config in another case":      {engine, []string{"BenchGate.yaml"}, true, `it touches "BenchGate.yaml", which counts by "**/benchgate.yaml"`},
		"a dataset in another case":     {engine, []string{"Data/prompts.jsonl"}, true, `it touches "Data/prompts.jsonl", which the config reads`},
		"a dataset":                     {engine, []string{"data/prompts.jsonl"}, true, `it touches "data/prompts.jsonl", which the config reads`},
		"a hostile name":                {engine, []string{"engine/\n::error::\x1b[31m<!--"}, true, `it touches "engine/\n::error::\x1b[31m<!--", which counts by "engine/**"`},
		"a long name":                   {engine, []string{"engine/" + strings.Repeat("x", 500)}, true, `it touches "engine/` + strings.Repeat("x", 53) + `…", which counts by "engine/**"`},
		"a name that is no UTF-8":       {engine, []string{"engine/\xff"}, true, `it touches "engine/` + "\uFFFD" + `", which counts by "engine/**"`},
		"many files":                    {engine, []string{"a", "b", "c", "d"}, false, `none of the 4 files it touches ("a", "b", "c", …) counts by gate.paths: "engine/**", "go.mod", "*.lock"`},
		"many paths":                    {strings.Split("a b c d e f g", " "), []string{"x"}, false, `the one file it touches, "x", does not count by gate.paths: "a", "b", "c", "d", and 3 more`},
	} {
		needed, why := config.Needed(c.paths, c.changed, inputs...)
		if needed != c.needed || why != c.why {
			t.Errorf("%s: %v, %s\nwant %v, %s", name, needed, why, c.needed, c.why)
		}
	}
}

func TestInputsAreTheConfigAndItsDatasets(t *testing.T) {
	text := strings.Replace(sound, "scenarios: {", `scenarios: {
  docs: {dataset: {kind: jsonl, path: ../data/docs.jsonl}, output_tokens: 8, load: {rate: 1, requests: 60}},
  more: {dataset: {kind: jsonl, path: prompts.jsonl}, output_tokens: 8, load: {rate: 1, requests: 60}},
  same: {dataset: {kind: jsonl, path: prompts.jsonl}, output_tokens: 8, load: {rate: 1, requests: 60}},
  away: {dataset: {kind: jsonl, path: /srv/x.jsonl}, output_tokens: 8, load: {rate: 1, requests: 60}},
  out: {dataset: {kind: jsonl, path: ../../x.jsonl}, output_tokens: 8, load: {rate: 1, requests: 60}}, `, 1)
	c, err := config.Parse("ci/x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ci/prompts.jsonl", "ci/x.yaml", "data/docs.jsonl"}, c.Inputs("ci")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzNeeded(f *testing.F) {
	f.Add("engine/**", "engine/a.go")
	f.Add("{a,b}{c,d}[^x]*", "ac\x00")
	f.Fuzz(func(t *testing.T, glob, name string) {
		text := strings.Replace(sound, "scenarios:", "gate: {paths: ["+strconv.Quote(glob)+"]}\nscenarios:", 1)
		c, err := config.Parse("x.yaml", []byte(text))
		if err != nil {
			return
		}
		if needed, why := config.Needed(c.Paths, []string{name, "benchgate.yaml"}); !needed || why == "" {
			t.Fatalf("%q, %q: an edit of the config passes unseen: %s", glob, name, why)
		}
		needed, why := config.Needed(c.Paths, []string{name})
		if strings.ContainsAny(why, "\n\r\x1b") || len(why) > 1000 {
			t.Fatalf("%v, %q", needed, why)
		}
	})
}
