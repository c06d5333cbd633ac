package load

import (
	"context"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
)

// pieces cuts a text as byte-pair tokenizers do: a word is a piece, a long one two, of digits three make one.
var pieces = regexp.MustCompile(`[a-z]{1,4}|[0-9]{1,3}|[^a-z0-9 ]`)

// prober is a server with a tokenizer: template is what it puts around a prompt.
type prober struct {
	template   int
	noUsage    bool
	noTokenize bool
	cut        int // prompts are cut to so many tokens; 0 is never
	// ids says how many tokens the server counts for a prompt of token ids; nil refuses them.
	ids  func(ids []int) int
	sent []string
}

var errNoUsage = errors.New("the server reports no usage")

func (p *prober) CountPrompt(ctx context.Context, text string) (int, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	p.sent = append(p.sent, text)
	if p.noUsage {
		return 0, errNoUsage
	}
	n := p.template + len(pieces.FindAllString(text, -1))
	if p.cut > 0 {
		n = min(n, p.cut)
	}
	return n, nil
}

func (p *prober) Tokenize(ctx context.Context, text string) ([]int, bool, error) {
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if p.noTokenize {
		return nil, false, nil
	}
	return make([]int, len(pieces.FindAllString(text, -1))), true, nil
}

func (p *prober) Do(_ context.Context, call openai.Call, _ func() float64) bench.Request {
	if p.ids == nil {
		return bench.Request{Class: bench.HTTP4xx}
	}
	return bench.Request{Class: bench.OK, InputTokens: p.ids(call.Prompt.Tokens)}
}

func TestCalibrateFindsTheWayToMakeALength(t *testing.T) {
	length := len(pieces.FindAllString(strings.Join(words[:], " "), -1))
	slope := math.Round(float64(length)/float64(len(words))*1e6) / 1e6
	exact := func(ids []int) int { return len(ids) + 1 }
	salt := 4.0 // "#", three pieces of eight digits
	for _, c := range []struct {
		name   string
		p      prober
		tokens bool
		want   bench.Calibration
	}{
		{"usage", prober{template: 11}, false, bench.Calibration{Method: MethodUsage, TokensPerWord: slope, Overhead: 11 + salt}},
		{"tokenize where there is no usage", prober{template: 11, noUsage: true}, false, bench.Calibration{Method: MethodTokenize, TokensPerWord: slope, Overhead: salt}},
		{"tokenize where usage is wrong", prober{cut: 300}, false, bench.Calibration{Method: MethodTokenize, TokensPerWord: slope, Overhead: salt}},
		{"token ids", prober{ids: exact}, true, bench.Calibration{Method: MethodTokens, Overhead: 1}},
		{"token ids not asked for", prober{ids: exact}, false, bench.Calibration{Method: MethodUsage, TokensPerWord: slope, Overhead: salt}},
		{"token ids refused", prober{}, true, bench.Calibration{Method: MethodUsage, TokensPerWord: slope, Overhead: salt}},
		{"token ids read as text", prober{ids: func(ids []int) int { return 3 * len(ids) }}, true, bench.Calibration{Method: MethodUsage, TokensPerWord: slope, Overhead: salt}},
		{"token ids uncounted", prober{ids: func([]int) int { return 0 }}, true, bench.Calibration{Method: MethodUsage, TokensPerWord: slope, Overhead: salt}},
		{"token ids counted as one", prober{ids: func([]int) int { return 17 }}, true, bench.Calibration{Method: MethodUsage, TokensPerWord: slope, Overhead: salt}},
		{"a small vocabulary", prober{ids: func(ids []int) int {
			for _, id := range ids {
				if id >= 8000 {
					return 0
				}
			}
			return len(ids)
		}}, true, bench.Calibration{Method: MethodUsage, TokensPerWord: slope, Overhead: salt}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Calibrate(t.Context(), &c.p, c.tokens)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("calibration (-want +got):\n%s", diff)
			}
		})
	}
}

// What was learnt from a server makes prompts of the wanted length on that server.
func TestCalibratedPromptsHitTheirLength(t *testing.T) {
	for _, length := range []int{64, 128, 512, 1024} {
		p := &prober{template: 24}
		cal, err := Calibrate(t.Context(), p, false)
		if err != nil {
			t.Fatal(err)
		}
		w := made(t, randomScenario(length, 0, 12), cal, openai.Chat)
		sum := 0
		for _, q := range w.Salted(Salt(1, "c", 1)) {
			n, err := p.CountPrompt(t.Context(), q.Text)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		if mean := float64(sum) / 12; math.Abs(mean/float64(length)-1) > 0.02 {
			t.Errorf("prompts have %v tokens on average, want %d", mean, length)
		}
	}
}

func TestProbesShareNoPrefix(t *testing.T) {
	p := &prober{}
	if _, err := Calibrate(t.Context(), p, false); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, text := range p.sent {
		first, _, _ := strings.Cut(text, " ")
		if seen[first] {
			t.Errorf("two probes begin with %q", first)
		}
		seen[first] = true
	}
	if len(p.sent) != 3 {
		t.Errorf("%d probes", len(p.sent))
	}
}

func TestAServerThatCountsNothingCannotBeCalibrated(t *testing.T) {
	_, err := Calibrate(t.Context(), &prober{noUsage: true, noTokenize: true}, true)
	if !errors.Is(err, errNoUsage) || !strings.Contains(err.Error(), "no tokenize endpoint") {
		t.Errorf("error %v", err)
	}
	_, err = Calibrate(t.Context(), &prober{cut: 300, noTokenize: true}, false)
	if err == nil || !strings.Contains(err.Error(), "which is not a line") {
		t.Errorf("error %v", err)
	}
}

func TestCalibrateEndsWithItsContext(t *testing.T) {
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := Calibrate(ctx, &prober{}, false); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}
