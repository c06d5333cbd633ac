package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// wireCase is a JSON file of testdata/wire. The answer lies beside it: NAME.sse is a body, NAME.http all that is sent.
type wireCase struct {
	Why string
	Ask struct {
		API       string
		MaxTokens int `json:"max_tokens"`
		Exact     bool
	}
	Want outcome
}

// outcome is a Request without its times.
type outcome struct {
	Class        bench.Class `json:"class"`
	Status       int         `json:"status"`
	Error        string      `json:"error"`
	Chunks       int         `json:"chunks"`
	InputTokens  int         `json:"input_tokens"`
	OutputTokens int         `json:"output_tokens"`
	TokenSource  string      `json:"token_source"`
	CachedTokens *int        `json:"cached_tokens"`
	Finish       string      `json:"finish"`
	Text         string      `json:"text"`
	Reasoning    string      `json:"reasoning"`
	Tokens       bool        `json:"tokens"` // a first token has a time
	Answer       bool        `json:"answer"` // so has a first token of the answer
}

func outcomeOf(a *answer) outcome {
	r := a.req
	return outcome{
		Class: r.Class, Status: r.Status, Error: r.Error, Chunks: r.Chunks, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens,
		TokenSource: r.TokenSource, CachedTokens: r.CachedTokens, Finish: r.Finish, Text: r.Text, Reasoning: a.reasoning,
		Tokens: r.FirstToken > 0, Answer: r.FirstAnswer > 0,
	}
}

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
		a := c.exchange(context.Background(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: w.Ask.MaxTokens, Exact: w.Ask.Exact}, clock())
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
	files, err := filepath.Glob("testdata/wire/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			var w wireCase
			read(t, file, &w)
			if body, err := os.ReadFile(name + ".sse"); err == nil {
				p := player(t, w, true)
				alike(t, w, p, body)
				cut(t, p, body)
				return
			}
			whole, err := os.ReadFile(name + ".http")
			if err != nil {
				t.Fatal(err)
			}
			alike(t, w, player(t, w, false), whole)
		})
	}
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// alike holds the outcome to the wanted one however the answer is cut into writes.
func alike(t *testing.T, w wireCase, p play, b []byte) {
	t.Helper()
	check := func(how string, i int, pieces ...[]byte) {
		t.Helper()
		if diff := cmp.Diff(w.Want, outcomeOf(p(pieces...))); diff != "" {
			t.Fatalf("%s %d (-want +got):\n%s", how, i, diff)
		}
	}
	check("whole", 0, b)
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

// finished reports whether whole events name a finish reason, or a usage before [DONE].
func finished(events []string) bool {
	usage := false
	for _, e := range events {
		if e == "|[DONE]" && usage {
			return true
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
		usage = usage || v.Usage != nil
		for _, c := range v.Choices {
			if c.Reason != "" {
				return true
			}
		}
	}
	return false
}
