package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/config"
)

func planOf(t *testing.T, text, folder string, runs int, known map[string]float64) Plan {
	t.Helper()
	c, err := config.Parse("benchgate.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(c, folder, nil, runs, known)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hashOf(t *testing.T, p Plan) string {
	t.Helper()
	h, err := p.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var local = fmt.Sprintf(twoScenarios, "http://127.0.0.1:8000/v1")

func TestReplaysKeepVoidRunsWithinAFifth(t *testing.T) {
	for runs := 1; runs <= 40; runs++ {
		n := replays(runs)
		if share := float64(n) / float64(runs+n); share > voidShare+1e-12 {
			t.Errorf("%d runs: %d replays are %.0f %%", runs, n, 100*share)
		}
	}
	if replays(5) != 1 || replays(3) != 0 || replays(10) != 2 {
		t.Errorf("replays of 3, 5, 10 runs: %d, %d, %d", replays(3), replays(5), replays(10))
	}
}

func TestPlanHashIsAboutTheRequestsOnly(t *testing.T) {
	base := hashOf(t, planOf(t, local, ".", 0, nil))
	for name, change := range map[string]struct {
		text string
		same bool
	}{
		"a comment above":  {"# hello\n\n" + local, true},
		"a budget":         {strings.Replace(local, "runs: 3", "runs: 3, budget: 60m", 1), true},
		"an abort rule":    {strings.Replace(local, "runs: 3", "runs: 3, abort: {errors: 50%}", 1), true},
		"another length":   {strings.Replace(local, "output_tokens: 4", "output_tokens: 5", 1), false},
		"another seed":     {strings.Replace(local, "requests: 60}", "requests: 60, seed: 7}", 1), false},
		"another model":    {strings.Replace(local, "simulated-8b", "simulated-9b", 1), false},
		"other runs":       {strings.Replace(local, "runs: 3", "runs: 4", 1), false},
		"constant instead": {strings.Replace(local, "rate: 200", "rate: 200, burstiness: inf", 1), false},
	} {
		got := hashOf(t, planOf(t, change.text, ".", 0, nil))
		if (got == base) != change.same {
			t.Errorf("%s: same hash is %v, want %v", name, got == base, change.same)
		}
	}
}

func TestPlanCountsTheTokensOfADataFile(t *testing.T) {
	folder := t.TempDir()
	line := fmt.Sprintf(`{"prompt": %q, "output_tokens": 4000}`+"\n", strings.Repeat("three words here ", 1000))
	file := filepath.Join(folder, "long.jsonl")
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(local, "{kind: random, input_tokens: 16}", "{kind: jsonl, path: long.jsonl}", 1)
	p := planOf(t, text, folder, 0, nil)
	perRequest := 4000 + 1000*3 // at least a token a word
	if least := 60 * (p.Runs + 1) * perRequest; p.Tokens < least {
		t.Errorf("%d tokens are planned, and %d will be sent at least", p.Tokens, least)
	}
	before := hashOf(t, p)
	if err := os.WriteFile(file, []byte(line+line), 0o600); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, planOf(t, text, folder, 0, nil)) == before {
		t.Error("another data file has the same hash")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(p.Config, folder, nil, 0, nil); err == nil {
		t.Error("a plan without its data file")
	}
}

func TestPlanTakesItsTimeFromAnEarlierRun(t *testing.T) {
	guessed := planOf(t, local, ".", 0, nil)
	known := planOf(t, local, ".", 0, map[string]float64{"closed": 100, "open": 1})
	if !guessed.Guessed || known.Guessed {
		t.Errorf("guessed: %v and %v, want true and false", guessed.Guessed, known.Guessed)
	}
	if want := 4 * 80 * time.Second; known.Best < want {
		t.Errorf("four passes of about 100 s take at best %s", known.Best)
	}
	if guessed.Best > guessed.Worst || known.Best > known.Worst {
		t.Error("best is over worst")
	}
}

func TestPlanRefusesWhatItCannotMeasure(t *testing.T) {
	c, err := config.Parse("benchgate.yaml", []byte(local))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(c, ".", []string{"nope"}, 0, nil); err == nil || !strings.Contains(err.Error(), `"nope"`) {
		t.Errorf("an unknown scenario: %v", err)
	}
	c.Campaign.Design = "confirm"
	if _, err := NewPlan(c, ".", nil, 0, nil); err == nil || !strings.Contains(err.Error(), "no reference") {
		t.Errorf("nothing to compare with: %v", err)
	}
}

func TestKeyNamesCommitPlanAndBaseline(t *testing.T) {
	keys := map[string]bool{}
	for _, commit := range []string{"a", "b", ""} {
		for _, plan := range []string{"p", "q"} {
			k, err := Key(commit, plan, nil)
			if err != nil {
				t.Fatal(err)
			}
			keys[k] = true
		}
	}
	if len(keys) != 6 {
		t.Errorf("%d keys for six campaigns", len(keys))
	}
}
