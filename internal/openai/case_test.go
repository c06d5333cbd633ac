package openai

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// update writes what this client makes of each case into its file, and docs/wire.md. Read the diff.
var update = flag.Bool("update", false, "rewrite the wanted outcomes and docs/wire.md")

// wireCase is a JSON file of testdata/wire: an answer of a server, and what this client makes of it. The answer lies beside
// it, NAME.sse a body and NAME.http all that is sent, or in it as play; without either it is the fault of the simulated
// server that is named.
type wireCase struct {
	name string
	Why  string `json:"why"`
	// Group is the part of docs/wire.md that shows the case, Row its line there; cases of one kind share one. Empty: Why.
	Group string `json:"group"`
	Row   string `json:"row,omitempty"`
	// Fault is the fault of the simulated server that does the same, so that anyone can see it.
	Fault string `json:"fault,omitempty"`
	// Peers say what other tools make of the row, one of its cases for all. A tool that is not there is not known.
	Peers map[string]string `json:"peers,omitempty"`
	Ask   asked             `json:"ask,omitzero"`
	Play  []writing         `json:"play,omitempty"`
	Want  outcome           `json:"want"`
}

type asked struct {
	API       string `json:"api,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	Exact     bool   `json:"exact,omitempty"`
	Limits    limits `json:"limits_ms,omitzero"`
}

func (a asked) call() Call {
	return Call{Prompt: Prompt{Text: "hello"}, MaxTokens: a.MaxTokens, Exact: a.Exact}
}

// limits are Timeouts in milliseconds.
type limits struct {
	Connect    int `json:"connect,omitempty"`
	FirstToken int `json:"first_token,omitempty"`
	Idle       int `json:"idle,omitempty"`
	Total      int `json:"total,omitempty"`
}

func (l limits) timeouts() Timeouts {
	return Timeouts{
		Connect: millis(l.Connect), FirstToken: millis(l.FirstToken), Idle: millis(l.Idle), Total: millis(l.Total),
	}
}

// writing is one write of a server, after a pause, as often as it says: each of the events as an event of its own, or bytes as
// they are. A hang is the end: the server says nothing more and does not close.
type writing struct {
	After  int               `json:"after_ms,omitempty"`
	Events []json.RawMessage `json:"events,omitempty"`
	Bytes  string            `json:"bytes,omitempty"`
	Times  int               `json:"times,omitempty"` // 0 is 1
	Hang   bool              `json:"hang,omitempty"`
}

func (w writing) written() (string, error) {
	text := w.Bytes
	for _, e := range w.Events {
		var word string
		if json.Unmarshal(e, &word) != nil {
			var b bytes.Buffer
			if err := json.Compact(&b, e); err != nil {
				return "", err
			}
			word = b.String()
		}
		text += data(word)
	}
	return text, nil
}

// outcome is a Request. Of its times only those stand there that virtual time makes certain.
type outcome struct {
	Class        bench.Class `json:"class"`
	Status       int         `json:"status,omitempty"`
	Error        string      `json:"error,omitempty"`
	Chunks       int         `json:"chunks,omitempty"`
	InputTokens  int         `json:"input_tokens,omitempty"`
	OutputTokens int         `json:"output_tokens,omitempty"`
	TokenSource  string      `json:"token_source,omitempty"`
	CachedTokens *int        `json:"cached_tokens,omitempty"`
	Finish       string      `json:"finish,omitempty"`
	Text         string      `json:"text,omitempty"`
	Reasoning    string      `json:"reasoning,omitempty"`
	Tokens       bool        `json:"tokens,omitempty"` // a first token has a time
	Answer       bool        `json:"answer,omitempty"` // so has a first token of the answer
	Times        *times      `json:"times_ms,omitempty"`
}

// times are the moments of a request and what is computed from them, in milliseconds. Null is absent.
type times struct {
	Headers     float64   `json:"headers"`
	FirstToken  float64   `json:"first_token"`
	FirstAnswer float64   `json:"first_answer"`
	LastToken   float64   `json:"last_token"`
	End         float64   `json:"end"`
	TTFT        *float64  `json:"ttft"`
	TTFOT       *float64  `json:"ttfot"`
	TPOT        *float64  `json:"tpot"`
	E2EL        *float64  `json:"e2el"`
	Gaps        []float64 `json:"gaps,omitempty"` // of at most ten
	Coalesced   int       `json:"coalesced,omitempty"`
}

func outcomeOf(a *answer) outcome {
	r := a.req
	return outcome{
		Class: r.Class, Status: r.Status, Error: r.Error, Chunks: r.Chunks, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens,
		TokenSource: r.TokenSource, CachedTokens: r.CachedTokens, Finish: r.Finish, Text: r.Text, Reasoning: a.reasoning,
		Tokens: r.FirstToken > 0, Answer: r.FirstAnswer > 0,
	}
}

func timesOf(r bench.Request) *times {
	of := func(f func() (float64, bool)) *float64 {
		v, ok := f()
		if !ok {
			return nil
		}
		v = milli(v)
		return &v
	}
	t := times{
		Headers: milli(r.Headers), FirstToken: milli(r.FirstToken), FirstAnswer: milli(r.FirstAnswer), LastToken: milli(r.LastToken),
		End: milli(r.End), TTFT: of(r.TTFT), TTFOT: of(r.TTFOT), TPOT: of(r.TPOT), E2EL: of(r.E2EL), Coalesced: r.Coalesced,
	}
	for _, g := range r.Gaps[:min(10, len(r.Gaps))] {
		t.Gaps = append(t.Gaps, milli(g))
	}
	return &t
}

// cases reads every case, in the order of their names.
func cases(t *testing.T) []wireCase {
	t.Helper()
	files, err := filepath.Glob("testdata/wire/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	all := make([]wireCase, len(files))
	for i, file := range files {
		read(t, file, &all[i])
		all[i].name = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return all
}

func (w wireCase) row() string {
	if w.Row != "" {
		return w.Row
	}
	return w.Why
}

// file is the answer beside the case, with this ending; false when there is none.
func (w wireCase) file(ending string) ([]byte, bool) {
	b, err := os.ReadFile(fmt.Sprintf("testdata/wire/%s.%s", w.name, ending))
	return b, err == nil
}

// save writes the case with another outcome.
func (w wireCase) save(t *testing.T, got outcome) {
	t.Helper()
	w.Want = got
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(w); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/wire/"+w.name+".json", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
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
