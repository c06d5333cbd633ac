package campaign

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// timedConfig has passes whose time is easy to reckon with: 60 requests at 1 a second, one token each.
const timedConfig = `version: 1
runner: lab
target:
  base_url: http://127.0.0.1:{port}/v1
  model: m
  command: [serve, "{port}"]
  ready: {within: 60s}
  stop: {within: 10s}
reference: {ready: {within: 30s}}
campaign: {design: %s, runs: 5, looks: [6, 8, 10], visit_runs: %d, cooldown: %s, warmup: {requests: %d}}
scenarios:
  one:
    dataset: {kind: random, input_tokens: 10}
    output_tokens: 1
    load: {rate: 1, requests: 60}
    primary: {metric: ttft.p95}
  two:
    dataset: {kind: random, input_tokens: 10}
    output_tokens: 1
    load: {rate: 1, requests: 60}
    primary: {metric: ttft.p95}
`

// At best a pass takes 60.02 s and at worst 62 s, six warm-up requests 6.02 s and 8 s. A start and its stop take at most
// 70 s for the target and 40 s for the reference.
func TestPlanCountsStartsWarmUpsAndPauses(t *testing.T) {
	type bounds struct {
		Best, Worst   float64 // seconds
		Requests      int
		Starts, Parts int // starts at most
	}
	const pass, slow, few, slowFew, starts = 60.02, 62.0, 6.02, 8.0, 70.0 + 40.0
	plain := bounds{ // 5 runs, 1 warm-up run, 1 replay, of each scenario
		Best: few + 2*6*pass, Worst: 70 + slowFew + 2*7*slow, Requests: 6 + 2*7*60, Starts: 1, Parts: 1,
	}
	turns := bounds{ // 6 to 10 visits a side, 2 replays a side, of each scenario
		Best: 11*5 + 2*12*(few+pass), Worst: 19*5 + 10*starts + 2*(20*slowFew+24*slow), Requests: 2 * (20*6 + 24*60), Starts: 20, Parts: 1,
	}
	both := bounds{Best: plain.Best, Worst: plain.Worst + 5 + turns.Worst, Requests: plain.Requests + turns.Requests, Starts: 21, Parts: 2}
	for name, test := range map[string]struct {
		design    string
		visitRuns int
		warmUp    int
		cooldown  string
		based     []string
		want      bounds
	}{
		"committed":                {"committed", 1, 6, "5s", nil, plain},
		"interleaved":              {"interleaved", 1, 6, "5s", nil, turns},
		"interleaved, no pauses":   {"interleaved", 1, 6, "0s", nil, bounds{turns.Best - 55, turns.Worst - 95, turns.Requests, 20, 1}},
		"interleaved, no warm-up":  {"interleaved", 1, 0, "5s", nil, bounds{turns.Best - 24*few, turns.Worst - 40*slowFew, turns.Requests - 240, 20, 1}},
		"interleaved, two a visit": {"interleaved", 2, 6, "5s", nil, bounds{turns.Best + 24*pass, turns.Worst + (2*2*25-2*24)*slow, 2 * (20*6 + 50*60), 20, 1}},
		"confirm":                  {"confirm", 1, 6, "5s", []string{"one", "two"}, both},
		"confirm, no baseline":     {"confirm", 1, 6, "5s", nil, turns},
		"confirm, one baseline": {"confirm", 1, 6, "5s", []string{"two"}, bounds{
			few + 6*pass + 5 + 11*5 + 12*(few+pass), 70 + slowFew + 7*slow + 5 + turns.Worst, 6 + 7*60 + turns.Requests, 21, 2,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, fmt.Sprintf(timedConfig, test.design, test.visitRuns, test.cooldown, test.warmUp), ".", 0, nil)
			p, err := p.Against(test.based)
			if err != nil {
				t.Fatal(err)
			}
			got := bounds{p.Best.Round(time.Millisecond).Seconds(), p.Worst.Round(time.Millisecond).Seconds(), p.Requests, 0, len(p.Parts)}
			for _, part := range p.Parts {
				got.Starts += part.MostStarts
			}
			test.want.Best, test.want.Worst = rounded(test.want.Best), rounded(test.want.Worst)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if p.Tokens < p.Requests*11-11 {
				t.Errorf("%d tokens for %d requests of 11", p.Tokens, p.Requests)
			}
		})
	}
}

func rounded(s float64) float64 {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).Seconds()
}

func TestPlanOfTurnsNamesWhatItIsAbout(t *testing.T) {
	turns := fmt.Sprintf(timedConfig, "interleaved", 1, "5s", 6)
	base := hashOf(t, planOf(t, turns, ".", 0, nil))
	for name, change := range map[string]struct {
		old, new string
		same     bool
	}{
		"a pause":                   {"cooldown: 5s", "cooldown: 9s", true},
		"a start of the reference":  {"within: 30s", "within: 31s", true},
		"other looks":               {"[6, 8, 10]", "[6, 8]", false},
		"two runs a visit":          {"visit_runs: 1", "visit_runs: 2", false},
		"another design":            {"interleaved", "confirm", false},
		"a folder of the reference": {"reference: {", "reference: {dir: base, ", false},
	} {
		if got := hashOf(t, planOf(t, strings.Replace(turns, change.old, change.new, 1), ".", 0, nil)); (got == base) != change.same {
			t.Errorf("%s: same hash is %v, want %v", name, got == base, change.same)
		}
	}
}

func TestPlanNotesWhatItCannotTell(t *testing.T) {
	self := strings.Replace(fmt.Sprintf(timedConfig, "interleaved", 1, "5s", 6), "reference: {ready: {within: 30s}}", "reference: {}", 1)
	running := strings.NewReplacer(`
  command: [serve, "{port}"]`, "", "{port}", "8000", "reference: {}", "reference: {base_url: 'http://127.0.0.1:8001/v1'}").Replace(self)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a build against itself":   {strings.Replace(self, "reference: {}", "reference: {dir: .}", 1), []string{"a build is compared with itself"}},
		"servers that run already": {running, []string{"reference has no command", "target has no command"}},
		"two builds":               {strings.Replace(self, "reference: {}", "reference: {dir: base}", 1), nil},
		"a variable":               {strings.Replace(self, "reference: {}", "reference: {env: {A: b}}", 1), nil},
		"a committed plan":         {strings.Replace(strings.Replace(self, "reference: {}", "reference: {dir: .}", 1), "interleaved", "committed", 1), nil},
	} {
		notes := planOf(t, test.text, ".", 0, nil).Notes
		if len(notes) != len(test.want) {
			t.Errorf("%s: notes %q, want %q", name, notes, test.want)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(notes[i], want) {
				t.Errorf("%s: note %q, want %q", name, notes[i], want)
			}
		}
	}
}
