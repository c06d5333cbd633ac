package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// play sends the case's request to a server that answers in these pieces.
type play func(pieces ...[]byte) *answer

func player(t *testing.T, w wireCase, streamed bool) play {
	var s *streaming
	var url string
	if streamed {
		s = &streaming{}
		url = serve(t, s)
	} else {
		s, url = answering(t)
	}
	c := client(t, url, func(o *Options) { o.API, o.KeepText = w.Ask.API, true })
	return func(pieces ...[]byte) *answer {
		s.set(pieces...)
		a := c.exchange(context.Background(), w.Ask.call(), clock())
		checkTimes(t, a.req)
		return a
	}
}

// checkTimes holds what is true of the times of every request.
func checkTimes(t *testing.T, r bench.Request) {
	t.Helper()
	if len(r.Gaps) != max(0, r.Chunks-1) || r.Coalesced > len(r.Gaps) {
		t.Errorf("%d gaps and %d coalesced of %d chunks", len(r.Gaps), r.Coalesced, r.Chunks)
	}
	sum := r.FirstToken
	for _, g := range r.Gaps {
		sum += g
	}
	if r.Chunks > 0 && (sum-r.LastToken > 1e-9 || r.LastToken-sum > 1e-9) {
		t.Errorf("gaps add up to %v, last token at %v", sum, r.LastToken)
	}
	order := []float64{r.Sent, r.Headers, r.FirstToken, r.FirstAnswer, r.LastToken, r.End}
	last := 0.0
	for i, at := range order {
		if at > 0 && at < last {
			t.Errorf("moment %d of %v is before the one before it", i, order)
		}
		last = max(last, at)
	}
}

func TestWire(t *testing.T) {
	for _, w := range cases(t) {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if len(w.Play) > 0 {
				w.hold(t, w.played(t))
			} else if body, ok := w.file("sse"); ok {
				p := player(t, w, true)
				w.alike(t, p, body)
				cut(t, p, body)
			} else if whole, ok := w.file("http"); ok {
				w.alike(t, player(t, w, false), whole)
			} else {
				w.hold(t, w.simulated(t))
			}
		})
	}
}

// hold compares the outcome with the wanted one, or with -update makes it that.
func (w *wireCase) hold(t *testing.T, got outcome) {
	t.Helper()
	if *update {
		w.save(t, got)
		w.Want = got
	}
	if diff := cmp.Diff(w.Want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

// played plays the case in virtual time, where every moment is certain.
func (w *wireCase) played(t *testing.T) outcome {
	t.Helper()
	acts := w.acts(t)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { playActs(w, r, acts) })
	var a *answer
	onPipes(t, h, func(o *Options) { o.API, o.Timeouts = w.Ask.API, w.Ask.Limits.timeouts() }, func(t *testing.T, c *Client) {
		a = c.exchange(t.Context(), w.Ask.call(), clock())
	})
	checkTimes(t, a.req)
	got := outcomeOf(a)
	got.Times = timesOf(a.req)
	return got
}

func (w *wireCase) acts(t *testing.T) []act {
	t.Helper()
	var acts []act
	for _, s := range w.Play {
		text, err := s.written()
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, slices.Repeat([]act{{millis(s.After), text, s.Hang}}, max(1, s.Times))...)
	}
	return acts
}

// alike holds the outcome to the wanted one however the answer is cut into writes.
func (w *wireCase) alike(t *testing.T, p play, b []byte) {
	t.Helper()
	w.hold(t, outcomeOf(p(b)))
	check := func(how string, i int, pieces ...[]byte) {
		t.Helper()
		if diff := cmp.Diff(w.Want, outcomeOf(p(pieces...))); diff != "" {
			t.Fatalf("%s %d (-want +got):\n%s", how, i, diff)
		}
	}
	check("pieces of", 1, pieces(b, 1)...)
	check("pieces of", 100, pieces(b, 100)...)
	for i := 0; i < len(b); i += step(len(b)) {
		check("cut at", i, b[:i], b[i:])
	}
}

// step is the distance between cuts: 1 but in short tests.
func step(n int) int {
	if testing.Short() {
		return n/8 + 1
	}
	return 1
}

// cut ends the stream early, at every byte: it may be taken for a success only when the server had said that it was done.
func cut(t *testing.T, p play, b []byte) {
	t.Helper()
	for i := 0; i < len(b); i += step(len(b)) {
		a := p(b[:i])
		if a.req.Class == bench.OK && !finished(events(t, b[:i])) {
			t.Fatalf("the first %d bytes are a success:\n%s", i, b[:i])
		}
	}
}

// finished reports whether whole events name a finish reason, or end with a usage of its own and [DONE].
func finished(events []string) bool {
	usage := false
	for _, e := range events {
		if e == "|[DONE]" {
			return usage
		}
		_, data, _ := strings.Cut(e, "|")
		var v struct {
			Usage   *struct{}
			Choices []struct {
				Reason string `json:"finish_reason"`
			}
		}
		if json.Unmarshal([]byte(data), &v) != nil {
			continue
		}
		usage = v.Usage != nil && len(v.Choices) == 0 || usage && len(v.Choices) == 0
		for _, c := range v.Choices {
			if c.Reason != "" {
				return true
			}
		}
	}
	return false
}
