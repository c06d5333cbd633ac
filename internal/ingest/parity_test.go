package ingest

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/sim"
)

// recorded are streams, and what vLLM's own code made of them: testdata/parity/make.py.
type recorded struct {
	MadeWith     string `json:"made_with"`
	Start, Apart float64
	Cases        []stream
	Groups       []struct {
		Name      string
		Cases     []string
		Objective map[string]float64 `json:"objective_ms"`
		VLLM      map[string]any
	}
}

type stream struct {
	Name, What, API, End, Type string
	Asked, Status              int
	Exact                      bool
	Pieces                     [][2]any // ms since the request was sent, text
	VLLM                       theirs
}

// theirs is a request as vllm bench serve saw it, in seconds.
type theirs struct {
	Success              bool
	Start, TTFT, Latency float64
	ITL                  []float64
	OutputTokens         int `json:"output_tokens"`
	PromptTokens         int `json:"prompt_tokens"`
	Error                string
}

func record(t testing.TB) recorded {
	t.Helper()
	data, err := os.ReadFile("testdata/parity/streams.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r recorded) stream(t testing.TB, name string) stream {
	t.Helper()
	for _, s := range r.Cases {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no stream %q", name)
	return stream{}
}

// ServeHTTP plays the stream at its moments.
func (s stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	kind := s.Type
	if kind == "" {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	if s.Status > 0 {
		w.WriteHeader(s.Status)
	}
	w.(http.Flusher).Flush()
	at := 0.0
	for _, p := range s.Pieces {
		select {
		case <-time.After(time.Duration(math.Round((p[0].(float64) - at) * 1e6))):
		case <-r.Context().Done():
			return
		}
		at = p[0].(float64)
		_, _ = io.WriteString(w, p[1].(string)) // the client may have left
		w.(http.Flusher).Flush()
	}
	if s.End == "cut" {
		panic(http.ErrAbortHandler)
	}
}

// played is the stream as benchgate's client records it, in virtual time, when the request is sent at start.
func (s stream) played(t *testing.T, start float64) (q bench.Request) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net := sim.NewMemory()
		server := &http.Server{Handler: s}
		served := make(chan struct{})
		go func() { defer close(served); _ = server.Serve(net) }()
		limit := time.Minute
		c, err := openai.New(openai.Options{
			BaseURL: "http://memory/v1", Model: "m", API: s.API, Dial: net.Dial,
			Timeouts: openai.Timeouts{Connect: limit, FirstToken: limit, Idle: limit, Total: limit},
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		clock := func() float64 { return start + time.Since(began).Seconds() }
		q = c.Do(t.Context(), openai.Call{Prompt: openai.Prompt{Text: "hello"}, MaxTokens: s.Asked, Exact: s.Exact, Scheduled: start}, clock)
		c.Close()
		_ = server.Close()
		<-served
	})
	return q
}

// ours is a request in the words of the oracle.
func ours(q bench.Request) theirs {
	v := theirs{Success: q.Class == bench.OK, Start: q.Sent, ITL: q.Gaps, OutputTokens: q.OutputTokens, PromptTokens: q.InputTokens}
	if q.FirstToken > 0 {
		v.TTFT = q.FirstToken - q.Sent
	}
	if q.LastToken > 0 {
		v.Latency = q.LastToken - q.Sent
	}
	return v
}

func TestTheRecordHoldsWhatVLLMBenchServeReads(t *testing.T) {
	r := record(t)
	for _, s := range r.Cases {
		t.Run(s.Name, func(t *testing.T) {
			q := s.played(t, r.Start)
			want, got := s.VLLM, ours(vllmRequest(q))
			want.Error = ""
			if !want.Success {
				want.OutputTokens, got.OutputTokens = 0, 0 // neither counts them
			}
			if got.PromptTokens == 0 {
				want.PromptTokens = 0 // counted by its own tokenizer
			}
			if len(want.ITL) == 0 {
				want.ITL, got.ITL = nil, append([]float64(nil), got.ITL...)
			}
			diff := cmp.Diff(want, got, near)
			if !isUnknowable(s.Name) && diff != "" {
				t.Errorf("%+v\n%+v\n(-vllm +ours):\n%s", q, q.VLLM, diff)
			}
			if isUnknowable(s.Name) && diff == "" {
				t.Errorf("the numbers agree: %q can be told", s.Name)
			}
		})
	}
}

// objective is one of the oracle's, which are in milliseconds.
func objective(ms map[string]float64) (slo bench.SLO) {
	for name, limit := range map[string]**float64{"ttft": &slo.TTFT, "tpot": &slo.TPOT, "e2el": &slo.E2EL} {
		if v, ok := ms[name]; ok {
			*limit = new(v / 1000)
		}
	}
	return slo
}

// played are the streams of a group, each a while after the one before.
func (r recorded) played(t *testing.T, names []string) (all []bench.Request) {
	t.Helper()
	for i, name := range names {
		q := r.stream(t, name).played(t, r.Start+r.Apart*float64(i))
		q.Index = i
		all = append(all, q)
	}
	return all
}

// Where nothing was measured vllm bench serve has 0, and benchgate nothing.
func TestWrittenResultsHoldWhatVLLMComputes(t *testing.T) {
	r := record(t)
	for _, g := range r.Groups {
		t.Run(g.Name, func(t *testing.T) {
			requests := r.played(t, g.Cases)
			duration := g.VLLM["duration"].(float64)
			var b bytes.Buffer
			if err := WriteVLLM(&b, bench.Condense(requests, duration, bench.SLO{}), requests, objective(g.Objective), nil); err != nil {
				t.Fatal(err)
			}
			got := fields(t, b.Bytes())
			for key, want := range g.VLLM {
				if got[key] == nil && want == 0.0 {
					want = nil
				}
				if diff := cmp.Diff(want, got[key], near); diff != "" {
					t.Errorf("%s (-vllm +ours):\n%s", key, diff)
				}
			}
			if len(g.VLLM) < 40 {
				t.Errorf("only %d numbers", len(g.VLLM))
			}
		})
	}
}
