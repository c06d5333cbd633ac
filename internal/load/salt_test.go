package load

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

func TestSaltIsOneWordAndAnotherInEveryRun(t *testing.T) {
	form := regexp.MustCompile(`^#[0-9a-f]{8}$`)
	seen := map[string]bool{}
	for seed := range uint32(2) {
		for _, campaign := range []string{"", "a", "b"} {
			for run := range 200 {
				s := Salt(seed, campaign, run)
				if !form.MatchString(s) || seen[s] {
					t.Fatalf("seed %d, campaign %q, run %d: salt %q has another form or came before", seed, campaign, run, s)
				}
				if s != Salt(seed, campaign, run) {
					t.Fatalf("salt %q is not the same twice", s)
				}
				seen[s] = true
			}
		}
	}
}

// A campaign that goes on after a break must find its salts again. make_workloads.py makes them a second time.
func TestSaltStaysTheSameForGood(t *testing.T) {
	salts := readOracle(t).Salts
	if len(salts) < 3 {
		t.Fatalf("the oracle has %d salts", len(salts))
	}
	for _, want := range salts {
		if got := Salt(want.Seed, want.Campaign, want.Run); got != want.Salt {
			t.Errorf("seed %d, campaign %q, run %d: salt %s, want %s", want.Seed, want.Campaign, want.Run, got, want.Salt)
		}
	}
}

func TestSaltGoesIn(t *testing.T) {
	say := func(role, content string) openai.Message { return openai.Message{Role: role, Content: content} }
	for _, c := range []struct {
		name       string
		from, want openai.Prompt
	}{
		{"before a text", openai.Prompt{Text: "Why is the sky blue?"}, openai.Prompt{Text: "#12345678 Why is the sky blue?"}},
		{"in the place kept for it", openai.Prompt{Text: "@00000000 the of"}, openai.Prompt{Text: "#12345678 the of"}},
		{
			"before the system's message",
			openai.Prompt{Messages: []openai.Message{say("system", "Be brief."), say("user", "Hi")}},
			openai.Prompt{Messages: []openai.Message{say("system", "#12345678 Be brief."), say("user", "Hi")}},
		},
		{
			"before the user's first message",
			openai.Prompt{Messages: []openai.Message{say("assistant", "Yes?"), say("user", "Hi"), say("user", "Ho")}},
			openai.Prompt{Messages: []openai.Message{say("assistant", "Yes?"), say("user", "#12345678 Hi"), say("user", "Ho")}},
		},
		{
			"before the first message where neither speaks",
			openai.Prompt{Messages: []openai.Message{say("developer", "Hi")}},
			openai.Prompt{Messages: []openai.Message{say("developer", "#12345678 Hi")}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := Workload{prompts: []openai.Prompt{c.from}, output: []int{1}}
			hash := w.Hash()
			if diff := cmp.Diff([]openai.Prompt{c.want}, w.Salted("#12345678")); diff != "" {
				t.Errorf("salted (-want +got):\n%s", diff)
			}
			if w.Hash() != hash {
				t.Error("salting changed the workload itself")
			}
		})
	}
}

func TestSaltReplacesTheFirstTokens(t *testing.T) {
	for _, n := range []int{1, 3, 4, 9} {
		w := Workload{prompts: []openai.Prompt{{Tokens: randomTokens(newStream(1, "test"), n)}}}
		before := w.prompts[0].Tokens
		a, b := w.Salted("#00000001")[0].Tokens, w.Salted("#00000002")[0].Tokens
		if len(a) != n || len(b) != n {
			t.Fatalf("%d tokens became %d and %d", n, len(a), len(b))
		}
		for i := range a {
			salted := i < saltTokens
			if (a[i] != b[i]) != salted || (a[i] != before[i]) != salted {
				t.Errorf("token %d of %d: %d, salted %d and %d", i, n, before[i], a[i], b[i])
			}
			if a[i] < firstToken || a[i] >= pastTokens {
				t.Errorf("token id %d", a[i])
			}
		}
	}
}

func TestReusedPromptsCarryNoSalt(t *testing.T) {
	w := Workload{prompts: prompts("@00000000 the"), load: config.Load{ReusePrompts: true}}
	if diff := cmp.Diff(w.prompts, w.Salted(Salt(1, "c", 1))); diff != "" {
		t.Errorf("salted (-want +got):\n%s", diff)
	}
}

func TestARepeatedPromptIsNotTheSameAgain(t *testing.T) {
	s := scenario(config.Dataset{Kind: "jsonl", Path: "two.jsonl"}, 5)
	w, err := Prompts(s, "testdata", noCalibration, openai.Chat)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range w.Salted("#12345678") {
		got = append(got, p.Text)
	}
	want := []string{"#12345678 one", "#12345678 two", "#12345678 1 one", "#12345678 1 two", "#12345678 2 one"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("salted (-want +got):\n%s", diff)
	}
}

func TestTheWordThatKeepsThePlaceIsNoSalt(t *testing.T) {
	if strings.HasPrefix(unsalted, "#") || len(unsalted) != len(Salt(0, "", 0)) {
		t.Errorf("%q", unsalted)
	}
}
