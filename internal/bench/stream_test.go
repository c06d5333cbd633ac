package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answer is a success of n tokens in so many chunks, between two moments.
func answer(tokens, chunks int, first, last float64) Request {
	return Request{Class: OK, OutputTokens: tokens, Chunks: chunks, FirstToken: first, FirstAnswer: first, LastToken: last, End: last}
}

func TestAnAnswerThatCameAtOnce(t *testing.T) {
	failed := answer(100, 100, 2, 2)
	failed.Class = Truncated
	for _, c := range []struct {
		name      string
		q         Request
		at, known bool
		tpot      float64 // 0: it has none
	}{
		{"token by token", answer(100, 100, 0.1, 1.09), false, true, 0.01},
		{"all chunks in one read", answer(100, 100, 2, 2), true, true, 0},
		{"all chunks in two reads", answer(100, 100, 2, 2.0099), true, true, 0.0001},
		{"one chunk", answer(100, 1, 2, 2), true, true, 0},
		{"two chunks of fifty", answer(100, 2, 0.5, 1.49), false, true, 0.01},
		{"three tokens", answer(3, 3, 2, 2), false, false, 0},
		{"four tokens in one chunk", answer(4, 1, 2, 2), true, true, 0},
		{"one token", answer(1, 1, 2, 2), false, false, 0},
		{"no time at all", answer(100, 100, 0.019, 0.019), false, false, 0},
		{"a failure", failed, false, false, 0},
		{"nothing known of chunks", answer(100, 0, 2, 2), false, false, 0},
	} {
		at, known := c.q.AtOnce()
		if at != c.at || known != c.known {
			t.Errorf("%s: at once %v, known %v; want %v and %v", c.name, at, known, c.at, c.known)
		}
		tpot, ok := c.q.TPOT()
		if ok != (c.tpot > 0) || ok && (tpot < c.tpot*0.999 || tpot > c.tpot*1.001) {
			t.Errorf("%s: tpot %v (%v), want %v", c.name, tpot, ok, c.tpot)
		}
	}
}

func TestARunSaysHowItsAnswersCame(t *testing.T) {
	failed := answer(100, 50, 2, 2)
	failed.Class = Truncated
	requests := []Request{
		answer(100, 100, 0.1, 1.09), answer(100, 100, 2, 2), answer(100, 1, 2, 2), answer(100, 2, 0.5, 1.49), answer(2, 2, 0.1, 0.2), failed,
	}
	run := Condense(requests, 10, SLO{})
	if run.Chunks != 41 || run.Buffered == nil || *run.Buffered != 0.5 {
		t.Errorf("%v chunks an answer, buffered %v; want 41 and a half", run.Chunks, run.Buffered)
	}
	if got := run.Metrics["tpot.mean"]; got < 0.0399 || got > 0.0401 { // of 10, 10 and 100 ms: no zero is among them
		t.Errorf("tpot.mean is %v, want 0.04", got)
	}
	short := Condense([]Request{answer(2, 2, 0.1, 0.2)}, 10, SLO{})
	if short.Buffered != nil {
		t.Errorf("buffered is %v, and answers of two tokens tell nothing", *short.Buffered)
	}
	at := Condense([]Request{answer(100, 100, 2, 2)}, 10, SLO{})
	if _, ok := at.Metrics["tpot.mean"]; ok {
		t.Error("tpot.mean is known of answers that came all at once")
	}
}

func TestTheWorseOfTwoClients(t *testing.T) {
	a := Client{LagP99: 0.001, CPU: 0.5, OpenFiles: 1024, Reconnects: 3}
	b := Client{LagP99: 0.002, SchedP99: 0.1, OpenFiles: 512, SameHost: true, Connections: 8}
	want := Client{LagP99: 0.002, CPU: 0.5, SchedP99: 0.1, OpenFiles: 512, SameHost: true, Connections: 8, Reconnects: 3}
	for _, got := range []Client{a.Worst(b), b.Worst(a)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if a.LagP99 != 0.001 {
		t.Error("a run's own figures were changed")
	}
}
