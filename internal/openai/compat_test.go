package openai

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// accounted reads a stream as Do does, some bytes at a time, and closes the account of the request.
func accounted(body []byte, completions bool, piece int) bench.Request {
	began := time.Now()
	a := &answer{
		held: share{room: &room{most: mostHeld}},
		call: Call{MaxTokens: 20}, completions: completions, silence: idleTimeout(time.Minute), lastSilence: idleTimeout(time.Minute),
		since: func() float64 { return time.Since(began).Seconds() },
	}
	a.watch = newWatch(context.Background(), a.since, time.Minute)
	defer a.watch.stop()
	in := &dated{in: bytes.NewReader(body), since: a.since, left: -1}
	err := a.read(in, in, make([]byte, piece))
	a.compat.ended(err)
	return (&Client{redact: redactor{}}).ended(a, a.verdict(err)).req
}

// An event of another kind is no chunk of an answer, even when it begins like one.
func TestAHalfChunkInANamedEventCountsNowhere(t *testing.T) {
	body := "event: ping\ndata: " + `{"choices":[{"index":0,"delta":{"content":"w"}}` + "\n\n" + word + finish + count3
	q := accounted([]byte(body), false, 1<<10)
	if q.Class != bench.OK || q.Chunks != 1 || q.VLLM == nil || len(q.VLLM.Stretches) != 2 || q.VLLM.Stretches[0] != 0 {
		t.Errorf("%+v, %+v", q, q.VLLM)
	}
}

// Whatever comes: the record of the request can be written, or the campaign would end with it.
func FuzzAccount(f *testing.F) {
	files, err := filepath.Glob("testdata/wire/*.sse")
	if err != nil || len(files) == 0 {
		f.Fatal("no streams", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, false, 5)
	}
	f.Add([]byte("event: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"w\"}}\n\n"), true, 3)
	f.Fuzz(func(t *testing.T, body []byte, completions bool, piece int) {
		q := accounted(body, completions, min(max(1, piece), 1<<12))
		record := bench.Record{Request: &bench.RequestRecord{Scenario: "chat", Order: 1, Request: q}}
		if err := bench.WriteRecord(io.Discard, record); err != nil {
			t.Fatalf("%v\n%+v\n%+v", err, q, q.VLLM)
		}
	})
}
