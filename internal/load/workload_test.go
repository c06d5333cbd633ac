package load

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

var (
	noCalibration = bench.Calibration{}
	byWords       = bench.Calibration{Method: MethodUsage, TokensPerWord: 1.25, Overhead: 20}
	byTokens      = bench.Calibration{Method: MethodTokens, Overhead: 1}
)

func scenario(d config.Dataset, requests int) config.Scenario {
	return config.Scenario{
		Name: "chat", Dataset: d, OutputTokens: 16,
		Load: config.Load{Rate: 8, Burstiness: 1, Seed: 42, Requests: requests},
	}
}

func randomScenario(tokens int, spread float64, requests int) config.Scenario {
	return scenario(config.Dataset{Kind: "random", InputTokens: tokens, Range: spread}, requests)
}

func made(t *testing.T, s config.Scenario, cal bench.Calibration, api string) Workload {
	t.Helper()
	w, err := Prompts(s, "testdata", cal, api)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The hashes stand in committed baselines: they may never change, on no machine. make_workloads.py makes prompts and hashes
// a second time.
func TestWorkloadsStayTheSameForGood(t *testing.T) {
	oracle := readOracle(t)
	closed, reused := randomScenario(64, 0.2, 20), randomScenario(64, 0.2, 20)
	closed.Load.Rate, closed.Load.Concurrency = 0, 4
	reused.Load.ReusePrompts = true
	open := made(t, randomScenario(64, 0.2, 20), byWords, openai.Chat)
	got := map[string]string{
		"words, open loop":   open.Hash(),
		"words, closed loop": made(t, closed, byWords, openai.Chat).Hash(),
		"words, reused":      made(t, reused, byWords, openai.Chat).Hash(),
		"token ids":          made(t, randomScenario(64, 0.2, 20), byTokens, openai.Completions).Hash(),
		"file":               made(t, scenario(config.Dataset{Kind: "jsonl", Path: "two.jsonl"}, 3), noCalibration, openai.Chat).Hash(),
		"words, a minute":    made(t, lastingScenario(60, 20), byWords, openai.Chat).Hash(),
		"prefixes":           made(t, prefixScenario(40, 3, 20, 20), byWords, openai.Chat).Hash(),
		"prefixes of ids":    made(t, prefixScenario(40, 3, 20, 20), byTokens, openai.Completions).Hash(),
		"conversations":      made(t, talks(60, 18, 6), byWords, openai.Chat).Hash(),
		"messages":           made(t, scenario(config.Dataset{Kind: "jsonl", Path: "messages.jsonl"}, 2), noCalibration, openai.Chat).Hash(),
	}
	if diff := cmp.Diff(oracle.Hashes, got); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(oracle.FirstPrompt, open.prompts[0].Text); diff != "" {
		t.Errorf("first prompt (-want +got):\n%s", diff)
	}
}

type workloadOracle struct {
	Hashes      map[string]string
	FirstPrompt string `json:"first prompt"`
	Salts       []struct {
		Seed     uint32
		Campaign string
		Run      int
		Salt     string
	}
}

func readOracle(t *testing.T) workloadOracle {
	t.Helper()
	data, err := os.ReadFile("testdata/workloads.json")
	if err != nil {
		t.Fatal(err)
	}
	var o workloadOracle
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWorkloadHashTellsWorkloadsApart(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*config.Scenario){
		"as it is":            func(*config.Scenario) {},
		"other seed":          func(s *config.Scenario) { s.Load.Seed++ },
		"other length":        func(s *config.Scenario) { s.Dataset.InputTokens++ },
		"other range":         func(s *config.Scenario) { s.Dataset.Range = 0.3 },
		"other output":        func(s *config.Scenario) { s.OutputTokens++ },
		"one request more":    func(s *config.Scenario) { s.Load.Requests++ },
		"other rate":          func(s *config.Scenario) { s.Load.Rate = 8.5 },
		"other burstiness":    func(s *config.Scenario) { s.Load.Burstiness = math.Inf(1) },
		"with a limit":        func(s *config.Scenario) { s.Load.MaxConcurrency = 4 },
		"closed loop":         func(s *config.Scenario) { s.Load.Rate, s.Load.Concurrency = 0, 4 },
		"closed loop, larger": func(s *config.Scenario) { s.Load.Rate, s.Load.Concurrency = 0, 5 },
		"reused prompts":      func(s *config.Scenario) { s.Load.ReusePrompts = true },
		"from a file": func(s *config.Scenario) {
			s.Dataset = config.Dataset{Kind: "jsonl", Path: "two.jsonl"}
		},
	} {
		s := randomScenario(64, 0.2, 20)
		change(&s)
		h := made(t, s, byWords, openai.Chat).Hash()
		if other, same := seen[h]; same {
			t.Errorf("%q and %q have one hash", name, other)
		}
		seen[h] = name
	}
}

func TestTheSamePromptsForAnotherAPIAreAnotherWorkload(t *testing.T) {
	s := scenario(config.Dataset{Kind: "jsonl", Path: "two.jsonl"}, 3)
	if made(t, s, noCalibration, openai.Chat).Hash() == made(t, s, noCalibration, openai.Completions).Hash() {
		t.Error("a chat template changes nothing")
	}
}

func TestOnlyReusedPromptsAreWhollyShared(t *testing.T) {
	fresh, reused := randomScenario(64, 0.2, 5), randomScenario(64, 0.2, 5)
	reused.Load.ReusePrompts = true
	if got := made(t, fresh, byWords, openai.Chat).SharedTokens(); got != 0 {
		t.Errorf("fresh prompts: %v", got)
	}
	if got := made(t, reused, byWords, openai.Chat).SharedTokens(); got != 1 {
		t.Errorf("reused prompts: %v", got)
	}
}

func TestNamesDoNotEnterTheHash(t *testing.T) {
	a, b := randomScenario(64, 0.2, 20), randomScenario(64, 0.2, 20)
	b.Name = "other"
	if made(t, a, byWords, openai.Chat).Hash() != made(t, b, byWords, openai.Chat).Hash() {
		t.Error("the scenario's name is in the hash")
	}
}

func TestTextsWithMovedBoundariesHaveAnotherHash(t *testing.T) {
	a := Workload{prompts: prompts("ab", "c"), output: []int{1, 1}}
	b := Workload{prompts: prompts("a", "bc"), output: []int{1, 1}}
	if a.Hash() == b.Hash() {
		t.Error("two lists of prompts have one hash")
	}
}

// The bounds are ⌊L(1−r)⌋ and ⌈L(1+r)⌉ in exact arithmetic: r is a decimal fraction.
func TestBoundsOfTheInputLength(t *testing.T) {
	for _, c := range []struct {
		length    int
		spread    float64
		low, high int
	}{
		{512, 0, 512, 512},
		{512, 0.2, 409, 615},
		{10, 0.1, 9, 11},
		{100, 0.07, 93, 107},
		{1000, 0.001, 999, 1001},
		{30, 0.3, 21, 39},
		{3, 0.5, 1, 5},
		{1, 0.5, 1, 2},
		{100, 1, 1, 200},
	} {
		if low, high := bounds(c.length, c.spread); low != c.low || high != c.high {
			t.Errorf("bounds of %d ± %v are %d and %d, want %d and %d", c.length, c.spread, low, high, c.low, c.high)
		}
	}
}

func TestRandomLengthsFillTheirRangeEvenly(t *testing.T) {
	w := made(t, randomScenario(20, 0.2, 9000), byTokens, openai.Completions)
	count := map[int]int{}
	for _, p := range w.prompts {
		count[len(p.Tokens)+1]++ // the overhead is 1
	}
	if len(count) != 9 {
		t.Fatalf("lengths %v, want 16 to 24", count)
	}
	for n := 16; n <= 24; n++ {
		// 1000 each, standard deviation 30.
		if count[n] < 850 || count[n] > 1150 {
			t.Errorf("length %d came %d times of 9000", n, count[n])
		}
	}
}

func TestRandomTextIsOfTheWantedLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cal := bench.Calibration{
			Method:        MethodTokenize,
			TokensPerWord: rapid.Float64Range(0.9, 3).Draw(t, "tokens per word"),
			Overhead:      float64(rapid.IntRange(0, 60).Draw(t, "overhead")),
		}
		length := rapid.IntRange(100, 3000).Draw(t, "length")
		w, err := Prompts(randomScenario(length, 0, 3), "", cal, openai.Chat)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range w.Salted("#12345678") {
			words := len(strings.Fields(p.Text)) - 1 // the salt is part of the overhead
			got := cal.Overhead + float64(words)*cal.TokensPerWord
			if math.Abs(got-float64(length)) > max(0.02*float64(length), cal.TokensPerWord) {
				t.Fatalf("%d words make %v tokens, want %d", words, got, length)
			}
		}
	})
}

// A chat template may be longer than the wanted length.
func TestTheSmallestInputsStillDiffer(t *testing.T) {
	for name, w := range map[string]Workload{
		"words":     made(t, randomScenario(5, 0, 50), byWords, openai.Chat),
		"token ids": made(t, randomScenario(1, 0, 50), byTokens, openai.Completions),
	} {
		seen := map[string]bool{}
		for _, p := range w.Salted("#12345678") {
			asked := fmt.Sprint(p)
			if seen[asked] {
				t.Errorf("%s: twice %s", name, asked)
			}
			seen[asked] = true
		}
	}
}

func TestRandomPromptsDifferFromEachOther(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range made(t, randomScenario(64, 0, 200), byWords, openai.Chat).prompts {
		if seen[p.Text] {
			t.Fatalf("twice: %q", p.Text)
		}
		seen[p.Text] = true
	}
}

func TestTheSeedMakesThePrompts(t *testing.T) {
	a, b := randomScenario(64, 0.2, 5), randomScenario(64, 0.2, 5)
	if diff := cmp.Diff(made(t, a, byWords, openai.Chat).prompts, made(t, b, byWords, openai.Chat).prompts); diff != "" {
		t.Errorf("one seed, two workloads:\n%s", diff)
	}
	b.Load.Seed = 43
	if cmp.Equal(made(t, a, byWords, openai.Chat).prompts, made(t, b, byWords, openai.Chat).prompts) {
		t.Error("two seeds, one workload")
	}
}

func TestMorePromptsLeaveTheFirstOnesAsTheyWere(t *testing.T) {
	few, many := made(t, randomScenario(64, 0.2, 5), byWords, openai.Chat), made(t, randomScenario(64, 0.2, 50), byWords, openai.Chat)
	if diff := cmp.Diff(few.prompts, many.prompts[:5]); diff != "" {
		t.Errorf("first prompts (-few +many):\n%s", diff)
	}
}

func TestWorkloadThatCannotBeIsRefused(t *testing.T) {
	random := func(change func(*config.Scenario)) config.Scenario {
		s := randomScenario(64, 0.2, 20)
		change(&s)
		return s
	}
	for _, c := range []struct {
		name string
		s    config.Scenario
		cal  bench.Calibration
		api  string
		says string
	}{
		{"no requests", randomScenario(64, 0, 0), byWords, openai.Chat, "0 requests"},
		{"requests beyond all", scenario(config.Dataset{Kind: "jsonl", Path: "two.jsonl"}, 1<<40), noCalibration, openai.Chat, "1099511627776 requests"},
		{"unknown kind", scenario(config.Dataset{Kind: "pdf"}, 1), byWords, openai.Chat, `unknown dataset kind "pdf"`},
		{"not calibrated", randomScenario(64, 0, 1), noCalibration, openai.Chat, "needs to know the server's tokenizer"},
		{"broken calibration", randomScenario(64, 0, 1), bench.Calibration{Method: MethodUsage, TokensPerWord: math.NaN()}, openai.Chat, "measure anew"},
		{"endless calibration", randomScenario(64, 0, 1), bench.Calibration{Method: MethodUsage, TokensPerWord: 1e-9}, openai.Chat, "measure anew"},
		{"negative overhead", randomScenario(64, 0, 1), bench.Calibration{Method: MethodUsage, TokensPerWord: 1, Overhead: -1e300}, openai.Chat, "measure anew"},
		{"negative overhead of tokens", randomScenario(64, 0, 1), bench.Calibration{Method: MethodTokens, Overhead: -1e300}, openai.Completions, "measure anew"},
		{"token ids in a chat", randomScenario(64, 0, 1), byTokens, openai.Chat, "need the completions api"},
		{"no length", random(func(s *config.Scenario) { s.Dataset.InputTokens = 0 }), byWords, openai.Chat, "input_tokens 0"},
		{"a length beyond all", random(func(s *config.Scenario) { s.Dataset.InputTokens = 1 << 40 }), byWords, openai.Chat, "input_tokens"},
		{"a sum beyond all", random(func(s *config.Scenario) { s.Dataset.InputTokens, s.Load.Requests = 1<<20, 1<<20 }), byWords, openai.Chat, "are more than"},
		{"a range beyond all", random(func(s *config.Scenario) { s.Dataset.Range = 1.5 }), byWords, openai.Chat, "range 1.5"},
		{"a range that is no number", random(func(s *config.Scenario) { s.Dataset.Range = math.NaN() }), byWords, openai.Chat, "range NaN"},
		{"no output", random(func(s *config.Scenario) { s.OutputTokens = 0 }), byWords, openai.Chat, "output_tokens 0"},
		{"no room in a question", talks(0, 16, 1), noCalibration, openai.Chat, "max_input_tokens 0"},
		{"no output of a question", talks(60, 0, 1), noCalibration, openai.Chat, "output_tokens 0"},
		{"no conversation", scenario(config.Dataset{Kind: "sharegpt", Path: "two.jsonl", Longest: 9}, 1), noCalibration, openai.Chat, `dataset "two.jsonl": a ShareGPT file is one list`},
		{"a folder of conversations", scenario(config.Dataset{Kind: "sharegpt", Path: ".", Longest: 9}, 1), noCalibration, openai.Chat, "not a regular file"},
		{"no prefix", prefixScenario(0, 1, 10, 4), byWords, openai.Chat, "prefix_tokens 0"},
		{"a prefix beyond all", prefixScenario(1<<40, 1, 10, 4), byWords, openai.Chat, "prefix_tokens 1099511627776"},
		{"no group", prefixScenario(10, 0, 10, 4), byWords, openai.Chat, "0 groups"},
		{"groups beyond all", prefixScenario(1<<20, 1<<20, 10, 4), byWords, openai.Chat, "1048576 groups of 1048576 prefix_tokens"},
		{"a sum of prefixes beyond all", prefixScenario(1<<20, 1, 10, 1<<10), byWords, openai.Chat, "are more than"},
		{"a prefix without own words", prefixScenario(10, 1, 0, 4), byWords, openai.Chat, "input_tokens 0"},
		{"no such file", scenario(config.Dataset{Kind: "jsonl", Path: "none.jsonl"}, 1), noCalibration, openai.Chat, `dataset "none.jsonl"`},
		{"a folder", scenario(config.Dataset{Kind: "jsonl", Path: "."}, 1), noCalibration, openai.Chat, "not a regular file"},
		{"messages without chat", scenario(config.Dataset{Kind: "jsonl", Path: "messages.jsonl"}, 2), noCalibration, openai.Completions, `"messages.jsonl:2": messages need the chat api`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Prompts(c.s, "testdata", c.cal, c.api)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), `scenario "chat": `) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}

// The first values for the seed 1234567 as the algorithm's authors' Java class gives them (java.util.SplittableRandom).
func TestTheStreamIsSplitMix64(t *testing.T) {
	s := stream{state: 1234567}
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	var got []uint64
	for range want {
		got = append(got, s.next())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestTheListHoldsDifferentWords(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || len(w) > 8 || w == "" {
			t.Errorf("word %q", w)
		}
		seen[w] = true
	}
}
