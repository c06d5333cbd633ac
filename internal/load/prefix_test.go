package load

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

func prefixScenario(prefix, groups, own, requests int) config.Scenario {
	return scenario(config.Dataset{Kind: "prefix", PrefixTokens: prefix, Groups: groups, InputTokens: own}, requests)
}

var plainWords = bench.Calibration{Method: MethodUsage, TokensPerWord: 1}

func TestPromptsOfAGroupShareTheirPrefixAndNoMore(t *testing.T) {
	w := made(t, prefixScenario(40, 4, 10, 100), plainWords, openai.Chat)
	groups := map[string]int{}
	owns := map[string]bool{}
	for _, p := range w.Salted("#12345678") {
		all := strings.Fields(p.Text)
		if len(all) != 51 || all[0] != "#12345678" {
			t.Fatalf("%d words, the first %q: want the salt, 40 words of the prefix and 10 of its own", len(all), all[0])
		}
		groups[strings.Join(all[1:41], " ")]++
		owns[strings.Join(all[41:], " ")] = true
	}
	if len(groups) != 4 || len(owns) != 100 {
		t.Errorf("%d prefixes and %d endings, want 4 and 100", len(groups), len(owns))
	}
	for prefix, n := range groups {
		if n < 10 { // 25 each, standard deviation 4.3
			t.Errorf("%d of 100 prompts begin with %q", n, prefix)
		}
	}
}

func TestTokenIDsOfAGroupShareTheirPrefixToo(t *testing.T) {
	w := made(t, prefixScenario(40, 1, 10, 20), byTokens, openai.Completions)
	for _, p := range w.Salted("#12345678") {
		if len(p.Tokens) != 49 { // the overhead is 1
			t.Fatalf("%d token ids, want 49", len(p.Tokens))
		}
	}
	salted := w.Salted("#12345678")
	if diff := cmp.Diff(salted[0].Tokens[:40], salted[1].Tokens[:40]); diff != "" {
		t.Errorf("prefixes of one group (-first +second):\n%s", diff)
	}
	if cmp.Equal(salted[0].Tokens[40:], salted[1].Tokens[40:]) {
		t.Error("two prompts end alike")
	}
	if other := w.Salted("#87654321"); cmp.Equal(salted[0].Tokens[:4], other[0].Tokens[:4]) {
		t.Error("two runs begin alike")
	}
}

// Of n prompts in g groups n − g find their prefix: that is what a cache may serve.
func TestSharedTokensAreThoseOfTheKnownPrefixes(t *testing.T) {
	for _, c := range []struct {
		prefix, groups, own, requests int
		want                          float64
	}{
		{512, 8, 128, 160, 512.0 / 640 * 152 / 160},
		{100, 1, 100, 50, 0.5 * 49 / 50},
		{100, 40, 100, 50, 0.5 * 20 / 50}, // some groups stay empty
	} {
		w := made(t, prefixScenario(c.prefix, c.groups, c.own, c.requests), plainWords, openai.Chat)
		if got := w.SharedTokens(); math.Abs(got-c.want) > 0.06 {
			t.Errorf("prefix %d, %d groups, own %d, %d requests: %.3f shared, want %.3f", c.prefix, c.groups, c.own, c.requests, got, c.want)
		}
		ids := made(t, prefixScenario(c.prefix, c.groups, c.own, c.requests), byTokens, openai.Completions)
		if got := ids.SharedTokens(); math.Abs(got-c.want) > 0.06 {
			t.Errorf("token ids: %.3f shared, want %.3f", got, c.want)
		}
	}
}

func TestPromptsOfAFileThatBeginAlikeAreShared(t *testing.T) {
	system := openai.Message{Role: "system", Content: strings.Repeat("be kind ", 100)}
	talk := func(question string) openai.Prompt {
		return openai.Prompt{Messages: []openai.Message{system, {Role: "user", Content: question}}}
	}
	for name, c := range map[string]struct {
		prompts []openai.Prompt
		want    float64
	}{
		"nothing alike":      {prompts("one two", "three four"), 0},
		"one system message": {[]openai.Prompt{talk("a"), talk("b"), talk("c"), talk("d")}, 0.74},
		"the same again":     {prompts("one two", "one two", "one two"), 0}, // the repeats are numbered
	} {
		w := Workload{prompts: c.prompts}
		if w.compare(); math.Abs(w.SharedTokens()-c.want) > 0.01 {
			t.Errorf("%s: %.3f, want %.3f", name, w.SharedTokens(), c.want)
		}
	}
}

func TestTheSeedMakesThePrefixes(t *testing.T) {
	a, b := prefixScenario(20, 3, 10, 9), prefixScenario(20, 3, 10, 9)
	if made(t, a, byWords, openai.Chat).Hash() != made(t, b, byWords, openai.Chat).Hash() {
		t.Error("one seed, two workloads")
	}
	b.Load.Seed++
	if made(t, a, byWords, openai.Chat).Hash() == made(t, b, byWords, openai.Chat).Hash() {
		t.Error("two seeds, one workload")
	}
}

func TestMoreRequestsKeepTheFirstPromptsOfEachGroup(t *testing.T) {
	few, many := made(t, prefixScenario(20, 3, 10, 9), byWords, openai.Chat), made(t, prefixScenario(20, 3, 10, 90), byWords, openai.Chat)
	if diff := cmp.Diff(few.prompts, many.prompts[:9]); diff != "" {
		t.Errorf("first prompts (-few +many):\n%s", diff)
	}
}
