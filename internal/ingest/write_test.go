package ingest

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

var update = flag.Bool("update", false, "rewrite the generated files")

// numPys is a result of testdata/make.py as numbers, and its requests as a client of ours would have seen them.
func numPys(t *testing.T, name string) (map[string]any, []bench.Request) {
	t.Helper()
	var said map[string]any
	var k struct {
		TTFTs     []float64   `json:"ttfts"`
		ITLs      [][]float64 `json:"itls"`
		Latencies []float64   `json:"latencies"`
		Starts    []float64   `json:"start_times"`
		Queues    []float64   `json:"queue_times"`
		In        []int       `json:"input_lens"`
		Out       []int       `json:"output_lens"`
		Errors    []string
	}
	text := []byte(data(t, name))
	for _, v := range []any{&said, &k} {
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatal(err)
		}
	}
	var requests []bench.Request
	for i, e := range k.Errors {
		sent := k.Starts[i] - k.Starts[0] + 1
		q := bench.Request{
			Index: i, Scheduled: sent - k.Queues[i], Sent: sent, FirstToken: sent + k.TTFTs[i], LastToken: sent + k.Latencies[i],
			Gaps: k.ITLs[i], InputTokens: k.In[i], OutputTokens: k.Out[i], Class: bench.OK,
		}
		if e != "" {
			q.Class, q.Error = bench.Reset, e
		}
		requests = append(requests, q)
	}
	return said, requests
}

func fields(t testing.TB, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestWrittenResultsHoldWhatNumPySays(t *testing.T) {
	said, requests := numPys(t, "detailed_every_statistic.json")
	run := bench.Condense(requests, said["duration"].(float64), bench.SLO{})
	var b bytes.Buffer
	if err := WriteVLLM(&b, run, requests, bench.SLO{}, nil); err != nil {
		t.Fatal(err)
	}
	got := fields(t, b.Bytes())
	same := 0
	asked := []string{"num_prompts", "request_rate", "burstiness", "max_concurrency"}
	for key, want := range said {
		number, ok := want.(float64)
		if _, there := got[key]; !ok || !there || slices.Contains(asked, key) {
			continue
		}
		same++
		if v, ok := got[key].(float64); !ok || math.Abs(v-number) > 1e-7*math.Abs(number) {
			t.Errorf("%s = %v, NumPy says %v", key, got[key], number)
		}
	}
	if same < 30 {
		t.Errorf("only %d numbers are in both", same)
	}
}

func TestWrittenResultsHaveTheKeysOfVLLMInItsOrder(t *testing.T) {
	_, requests := numPys(t, "detailed.json")
	var b bytes.Buffer
	if err := WriteVLLM(&b, bench.Condense(requests, 5, bench.SLO{}), requests, bench.SLO{}, nil); err != nil {
		t.Fatal(err)
	}
	got := keys(t, b.Bytes())
	want := slices.DeleteFunc(keys(t, []byte(data(t, "detailed.json"))), func(k string) bool { return !slices.Contains(got, k) })
	if missing := len(keys(t, []byte(data(t, "detailed.json")))) - len(want); missing != 0 {
		t.Errorf("%d keys of vLLM are missing", missing)
	}
	rank := map[string]int{}
	for i, k := range got {
		rank[k] = i
	}
	for _, pair := range [][2]string{{"date", "model_id"}, {"num_prompts", "request_rate"}, {"max_concurrency", "duration"}, {"rtfx", "mean_ttft_ms"}, {"p99_ttft_ms", "mean_tpot_ms"}, {"p99_tpot_ms", "mean_itl_ms"}} {
		if rank[pair[0]] >= rank[pair[1]] {
			t.Errorf("%s stands after %s", pair[0], pair[1])
		}
	}
}

// keys are the top-level keys in their order.
func keys(t *testing.T, text []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var all []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, key.(string))
		var ignored json.RawMessage
		if err := d.Decode(&ignored); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// sample is one success, one request that broke in mid-stream and one that was refused.
func sample() []bench.Request {
	return []bench.Request{
		{Index: 0, Scheduled: 0.001, Sent: 0.002, FirstToken: 0.102, FirstAnswer: 0.102, LastToken: 0.302, End: 0.31, Gaps: []float64{0.05, 0.15}, Chunks: 3, InputTokens: 20, OutputTokens: 3, Class: bench.OK, Text: "a <b> c"},
		{Index: 1, Scheduled: 0.1, Sent: 0.1, FirstToken: 0.2, LastToken: 0.25, End: 0.26, Gaps: []float64{0.05}, InputTokens: 21, Class: bench.Reset, Error: "the server closed the connection"},
		{Index: 2, Scheduled: 0.2, Sent: 0.2, End: 0.2, Class: bench.Refused, Error: "connection refused"},
	}
}

func TestWrittenResultIsGolden(t *testing.T) {
	run := bench.Condense(sample(), 0.5, bench.SLO{})
	limit := 0.5
	run.Started = time.Date(2026, 11, 3, 23, 59, 59, 0, time.FixedZone("", 3600))
	var b bytes.Buffer
	err := WriteVLLM(&b, run, sample(), bench.SLO{TTFT: &limit}, map[string]any{"model_id": "Qwen/Qwen3-8B", "request_rate": 8.0, "runner": "h100-1x", "git_sha": "c0ffee"})
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/written.json"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("run: go test ./internal/ingest -update\n(-file +written):\n%s", diff)
	}
}

func TestWhatCouldNotBeMeasuredIsNull(t *testing.T) {
	failed := sample()[1:]
	var b bytes.Buffer
	if err := WriteVLLM(&b, bench.Condense(failed, 0.5, bench.SLO{}), failed, bench.SLO{}, nil); err != nil {
		t.Fatal(err)
	}
	got := fields(t, b.Bytes())
	for _, key := range []string{"mean_ttft_ms", "median_tpot_ms", "p99_itl_ms", "std_e2el_ms", "request_goodput"} {
		if v, ok := got[key]; !ok || v != nil {
			t.Errorf("%s = %v, want null", key, v)
		}
	}
	if got["completed"] != 0.0 || got["failed"] != 2.0 || got["max_concurrent_requests"] != 0.0 {
		t.Errorf("%v", got)
	}
}

func TestMeasuredKeysCannotBeSet(t *testing.T) {
	for _, key := range []string{"duration", "completed", "ttfts", "mean_ttft_ms", "errors"} {
		run := bench.Condense(sample(), 0.5, bench.SLO{})
		err := WriteVLLM(io.Discard, run, sample(), bench.SLO{}, map[string]any{key: 1})
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", key, err)
		}
	}
	if err := WriteVLLM(io.Discard, bench.Run{Sent: 4}, sample(), bench.SLO{}, nil); err == nil {
		t.Error("a run of other requests is written")
	}
	run := bench.Condense(sample(), 0.5, bench.SLO{})
	if err := WriteVLLM(io.Discard, run, sample(), bench.SLO{}, map[string]any{"x": math.NaN()}); err == nil {
		t.Error("a NaN is written")
	}
}

// Whatever was measured: what is written and imported again has the same statistics.
func TestWrittenResultsAreImportedUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var requests []bench.Request
		for i := range rapid.IntRange(1, 12).Draw(t, "requests") {
			requests = append(requests, anyRequest(t, i))
		}
		run := bench.Condense(requests, rapid.Float64Range(0.1, 100).Draw(t, "duration"), bench.SLO{})
		run.Started = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
		var b bytes.Buffer
		if err := WriteVLLM(&b, run, requests, bench.SLO{}, map[string]any{"model_id": "m"}); err != nil {
			t.Fatal(err)
		}
		d, err := Digest("auto", []File{{"x.json", &b}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := d.Sessions[0].Runs()[0]
		run = condense(asVLLM(requests), run.Duration, bench.SLO{})
		if run.OK == 0 {
			run.Metrics = map[string]float64{}
		}
		for name := range run.Metrics {
			if strings.HasPrefix(name, "ttfot.") { // vLLM's shape has no place for it
				delete(run.Metrics, name)
			}
		}
		if diff := cmp.Diff(run.Metrics, got.Metrics, near); diff != "" {
			t.Fatalf("(-ours +imported):\n%s", diff)
		}
		if run.Failed == nil {
			run.Failed = map[bench.Class]int{}
		}
		if got.Failed == nil {
			got.Failed = map[bench.Class]int{}
		}
		if diff := cmp.Diff(run.Failed, got.Failed); diff != "" || got.Sent != run.Sent || got.OK != run.OK {
			t.Fatalf("sent %d, ok %d, failed (-ours +imported):\n%s", got.Sent, got.OK, diff)
		}
	})
}

func anyRequest(t *rapid.T, i int) bench.Request {
	scheduled := rapid.Float64Range(0, 10).Draw(t, "scheduled")
	q := bench.Request{Index: i, Scheduled: scheduled, InputTokens: rapid.IntRange(1, 99).Draw(t, "in"), OutputTokens: 1, Class: bench.OK}
	q.Sent = scheduled + rapid.Float64Range(0.0001, 1).Draw(t, "queue")
	q.FirstToken = q.Sent + rapid.Float64Range(0.001, 2).Draw(t, "ttft")
	q.FirstAnswer, q.LastToken = q.FirstToken, q.FirstToken
	for range rapid.IntRange(0, 4).Draw(t, "more") {
		gap := rapid.Float64Range(0.0001, 0.5).Draw(t, "gap")
		q.Gaps = append(q.Gaps, gap)
		q.LastToken += gap
		q.OutputTokens++
	}
	if rapid.IntRange(0, 3).Draw(t, "failed") == 0 {
		q.Class, q.Error = rapid.SampledFrom(bench.Classes()[1:]).Draw(t, "class"), rapid.String().Draw(t, "error")
	}
	return q
}
