package ingest

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// counts are the requests of a result by their fate, once they add up.
type counts struct {
	asked, sent, ok int
	failed          map[bench.Class]int
	firstError      string
	warnings        []string
	untold          bool // the output tokens of some requests are not told
}

// countsOf reconciles the numbers of prompts, successes and failures. Lists that hold an entry for each request tell how
// many were sent, which may be fewer than the prompts that were asked for.
func countsOf(r result) (counts, error) {
	var c counts
	asked, _, err := r.count("num_prompts")
	if err != nil {
		return c, err
	}
	ok, _, err := r.count("completed")
	if err != nil {
		return c, err
	}
	failed, known, err := r.count("failed")
	if err != nil {
		return c, err
	}
	c = counts{asked: asked, sent: asked, ok: ok, failed: map[bench.Class]int{}}
	told, err := entries(r)
	if err != nil {
		return c, err
	}
	if told >= 0 {
		c.sent = told
	}
	if !known {
		failed = c.sent - ok
	}
	switch {
	case c.sent == 0:
		return c, errors.New("no request was sent")
	case failed < 0 || ok+failed != c.sent || c.sent > asked:
		return c, fmt.Errorf("%d prompts, %d completed and %d failed do not add up to %d requests", asked, ok, failed, c.sent)
	case failed > 0:
		c.failed[bench.Other] = failed
	}
	return c, nil
}

// entries is the length of the lists that hold one entry a request; −1 where there is none.
func entries(r result) (int, error) {
	for _, key := range []string{"errors", "latencies", "ttfts"} {
		values, err := list[any](r, key)
		if err != nil {
			return 0, err
		}
		if values != nil {
			return len(values), nil
		}
	}
	return -1, nil
}

// columns are the lists of a detailed result, one entry a request.
type columns struct {
	errors               []*string
	ttft, latency, queue []float64
	itls                 [][]float64
	in                   []int
	out                  []*int // nil: not told
}

// vllmRequests makes requests of a detailed result; nil of a default one. It counts failures by class into c.
//
// A failed request is one with an error text. Its times do not tell: they are zero, or real when it broke in mid-stream.
// Only where a server failed without a word (an empty reason) the absence of any output tells too.
func vllmRequests(r result, c *counts) ([]bench.Request, error) {
	if !r.has("ttfts") && !r.has("errors") {
		return nil, nil
	}
	if !r.has("errors") {
		c.warnings = append(c.warnings, "the file lists times of requests but not which of them failed: only its statistics are used")
		return nil, nil
	}
	k, err := columnsOf(r, c.sent)
	if err != nil {
		return nil, err
	}
	silent := k.silent(c.ok)
	c.failed = map[bench.Class]int{}
	var requests []bench.Request
	completed := 0 // as vLLM counts
	for i := range k.errors {
		q, err := k.request(i, silent)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		requests = append(requests, q)
		if q.Class == bench.OK {
			completed++
			continue
		}
		if q.Class == bench.Empty && k.quiet(i) {
			completed++
			c.ok--
			c.warnings = append(c.warnings, "a request without a single token was counted as completed; here it has failed")
		}
		c.failed[q.Class]++
		if c.firstError == "" {
			c.firstError = cut(q.Error)
		}
	}
	if said, _, _ := r.count("completed"); completed != said {
		return nil, fmt.Errorf(`"completed" is %d, but %d requests have no error`, said, completed)
	}
	if slices.Contains(k.out, nil) {
		c.untold = true
		c.warnings = append(c.warnings, "the file does not tell the number of output tokens of each request: tpot and output.rate are left out")
	}
	return requests, nil
}

func columnsOf(r result, n int) (columns, error) {
	var k columns
	var err [7]error
	k.errors, err[0] = list[*string](r, "errors")
	k.ttft, err[1] = r.floats("ttfts")
	k.latency, err[2] = r.floats("latencies")
	k.queue, err[3] = r.floats("queue_times")
	k.in, err[4] = list[int](r, "input_lens")
	k.out, err[5] = list[*int](r, "output_lens")
	k.itls, err[6] = nested(r, "itls")
	if err := errors.Join(err[:]...); err != nil {
		return k, err
	}
	for _, l := range []struct {
		key      string
		n        int
		optional bool
	}{
		{"errors", len(k.errors), false},
		{"ttfts", len(k.ttft), false},
		{"itls", len(k.itls), false},
		{"output_lens", len(k.out), false},
		{"input_lens", len(k.in), true},
		{"latencies", len(k.latency), true},
		{"queue_times", len(k.queue), true},
	} {
		if l.n != n && (!l.optional || r.has(l.key)) {
			return k, fmt.Errorf("%q has %d entries for %d requests", l.key, l.n, n)
		}
	}
	return k, nil
}

func nested(r result, key string) ([][]float64, error) {
	raw, err := list[rawList](r, key)
	if err != nil {
		return nil, err
	}
	values := make([][]float64, len(raw))
	for i, l := range raw {
		values[i] = l
	}
	return values, nil
}

// rawList is a list of numbers as Python writes them.
type rawList []float64

// UnmarshalJSON takes null as an empty list.
func (l *rawList) UnmarshalJSON(data []byte) error {
	values, err := toFloats(data)
	if string(data) == "null" {
		values, err = nil, nil
	}
	*l = values
	return err
}

// silent reports whether requests without an error text and without output have to be failures, for the count of
// completed ones to be right.
func (k columns) silent(completed int) bool {
	quiet, spoke := 0, 0
	for i := range k.errors {
		if k.quiet(i) {
			quiet++
			if k.tokens(i) > 0 {
				spoke++
			}
		}
	}
	return quiet != completed && spoke == completed
}

// tokens is the number of output tokens of a request, 0 where the file does not tell it.
func (k columns) tokens(i int) int {
	if k.out[i] == nil {
		return 0
	}
	return *k.out[i]
}

// quiet reports whether a request has no error text.
func (k columns) quiet(i int) bool { return k.errors[i] == nil || *k.errors[i] == "" }

func (k columns) request(i int, silent bool) (bench.Request, error) {
	q := bench.Request{Index: i, Class: bench.OK}
	if k.in != nil {
		q.InputTokens = k.in[i]
	}
	q.OutputTokens = k.tokens(i)
	if min(q.InputTokens, q.OutputTokens) < 0 || max(q.InputTokens, q.OutputTokens) > maxTokens {
		return q, fmt.Errorf("%d tokens in, %d out: not counts", q.InputTokens, q.OutputTokens)
	}
	if !k.quiet(i) {
		q.Class, q.Error = classOf(*k.errors[i])
		return q, nil
	}
	if silent && k.tokens(i) == 0 {
		q.Class, q.Error = bench.Other, "failed without a message"
		return q, nil
	}
	if k.ttft[i] == 0 {
		q.Class, q.Error = bench.Empty, "no token came"
		return q, nil
	}
	return q, k.times(i, &q)
}

// times places a success on a clock of its own, which begins when the schedule released it: only differences count.
func (k columns) times(i int, q *bench.Request) error {
	latency := k.ttft[i]
	for _, gap := range k.itls[i] {
		latency += gap
	}
	if k.latency != nil {
		latency = k.latency[i]
	}
	if k.queue != nil {
		q.Sent = k.queue[i]
	}
	for _, v := range append([]float64{q.Sent, k.ttft[i], latency}, k.itls[i]...) {
		if math.IsNaN(v) || v < 0 || v > maxSeconds {
			return fmt.Errorf("it succeeded, and one of its times is %v", v)
		}
	}
	if latency < k.ttft[i] {
		return fmt.Errorf("it ended after %v s, before its first token at %v s", latency, k.ttft[i])
	}
	q.FirstToken, q.LastToken = q.Sent+k.ttft[i], q.Sent+latency
	q.Gaps, q.Chunks = k.itls[i], len(k.itls[i])+1
	return nil
}

// fromRequests condenses the requests of a detailed result. Without queue times nothing is known of the schedule.
func fromRequests(r result, c counts, requests []bench.Request, duration float64) bench.Run {
	var more []string
	for key := range r.fields {
		if name, ok := vllmMetric(key); ok {
			more = append(more, name)
		}
	}
	run := bench.Condense(requests, duration, bench.SLO{}, more...)
	if c.untold {
		uncounted(&run)
	}
	if r.has("queue_times") {
		return run
	}
	for name := range run.Metrics {
		if strings.HasPrefix(name, "queue.") || strings.Contains(name, "_sched.") {
			delete(run.Metrics, name)
		}
	}
	return run
}

// classOf finds the class in an error text: our own "class: message", or the reason of an HTTP status, which is all that
// vLLM keeps of an answer that is not 200.
func classOf(text string) (bench.Class, string) {
	name, message, ok := strings.Cut(text, ": ")
	for _, c := range bench.Classes() {
		if ok && c != bench.OK && string(c) == name {
			return c, message
		}
	}
	for status := http.StatusBadRequest; status < 600; status++ {
		if reason := http.StatusText(status); reason != "" && reason == strings.TrimSpace(text) {
			return ofStatus(status), text
		}
	}
	return bench.Other, text
}

func ofStatus(status int) bench.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return bench.RateLimited
	case status == http.StatusServiceUnavailable:
		return bench.Overloaded
	case status < 500:
		return bench.HTTP4xx
	}
	return bench.HTTP5xx
}

// cut keeps the last line of a traceback, where Python says what went wrong.
func cut(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	text = lines[len(lines)-1]
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}
