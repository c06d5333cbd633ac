package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/sim"
)

func TestBothClientsInGoCountEveryEvent(t *testing.T) {
	running, err := sim.Listen(sim.Options{Slots: 64}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	for _, load := range []string{open, closed} {
		for name, with := range map[string]func(context.Context, job) ([]bench.Request, error){ownName: playOwn, bareName: playBare} {
			j := job{Load: load, Streams: 4, Requests: 12, Rate: 1000, Base: running.BaseURL(), Model: running.Server().Model(), Seed: 1}
			requests, err := with(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			a, truth := accountOf(requests), truthOf(running.Server().Drain())
			if len(a.Failed) > 0 || len(a.TTFT) != 12 || a.Events != 12*tokens || truth.tokens != a.Events {
				t.Errorf("%s, %s: %d answers, %d events of %d, failed %q", name, load, len(a.TTFT), a.Events, truth.tokens, a.Failed)
			}
		}
	}
}

func TestPeersReportsAreRead(t *testing.T) {
	got, err := readGuidellm(strings.NewReader(`{"metadata":{"guidellm_version":"0.8.1"},"benchmarks":[{"requests":{
		"successful":[{"time_to_first_token_ms":101.5,"inter_token_latency_ms":20.25},{"time_to_first_token_ms":null}],
		"errored":[{"info":{"error":"boom"}}],"incomplete":[{"info":{}}]}}]}`))
	want := account{
		Version: "0.8.1", TTFT: []float64{0.1015}, TPOT: []float64{0.02025},
		Failed: []string{"a successful request without times", "boom", "incomplete"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("guidellm: %v (-want +got)\n%s", err, diff)
	}
	got, err = readAIPerf(strings.NewReader(`{"metrics":{"time_to_first_token":{"value":101.5,"unit":"ms"},"inter_token_latency":{"value":20.25,"unit":"ms"}},"error":null}
{"metrics":{"time_to_first_token":{"value":1,"unit":"s"},"inter_token_latency":{"value":1,"unit":"ms"}}}
{"metrics":{},"error":{"message":"boom"}}
`))
	want = account{TTFT: []float64{0.1015}, TPOT: []float64{0.02025}, Failed: []string{"a record without times", "boom"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("aiperf: %v (-want +got)\n%s", err, diff)
	}
	if _, err := readGuidellm(strings.NewReader(`{"benchmarks":[]}`)); err == nil {
		t.Error("a report of no benchmark is read without an error")
	}
}

func TestErrorsAreWhatIsSaidMinusWhatIs(t *testing.T) {
	at := time.Unix(1000, 0)
	record := func(first time.Duration) sim.Record {
		return sim.Record{Received: at, First: at.Add(first), Last: at.Add(first + 99*20*time.Millisecond), Tokens: 100}
	}
	r := row{Load: closed, Requests: 2}
	a := account{TTFT: []float64{0.150, 0.120}, TPOT: []float64{0.021, 0.021}, Events: 199}
	samples := []sample{{at: at, cpu: 1, rss: 10}, {at: at.Add(4 * time.Second), cpu: 5, rss: 30}}
	if err := r.compare(a, []sim.Record{record(100 * time.Millisecond), record(110 * time.Millisecond)}, samples); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ want, got float64 }{
		"TTFT p50": {30, *r.TTFTErrorP50},
		"TTFT p99": {149.7 - 109.9, *r.TTFTErrorP99},
		"TPOT p99": {1, *r.TPOTErrorP99},
		"CPU":      {(2.09 + 0.25) / 200 * 1e6, *r.CPUPerEvent},
		"memory":   {30, *r.RSS},
		"lost":     {1, float64(*r.LostEvents)},
	} {
		if math.Abs(c.got-c.want) > 1e-3*math.Abs(c.want) {
			t.Errorf("%s: want %v, got %v", what, c.want, c.got)
		}
	}
}

func TestAToolThatToldNothingHasNoFigure(t *testing.T) {
	r := row{Requests: 1}
	if err := r.compare(account{Failed: []string{"boom"}}, nil, nil); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("want its words, got %v", err)
	}
	r.Why = "boom"
	if r.TTFTErrorP50 != nil || r.note() != "no figure: boom" || r.cells()[3] != "–" {
		t.Errorf("%+v says %q", r, r.note())
	}
}

func TestPromisesAreKeptOnlyByFigures(t *testing.T) {
	of := func(tool, load string, streams int, p50 float64) row {
		late, lost, rate := 1.0, 0, 100.0
		return row{
			Tool: tool, Load: load, Streams: streams, TTFTErrorP50: &p50, TTFTErrorP99: &p50, CPUPerEvent: &p50,
			LateP99: &late, LostEvents: &lost, AchievedRate: &rate, WantedRate: 100,
		}
	}
	f := figures{Rows: []row{
		of(ownName, open, promised, -1), of("aiperf", open, promised, 25), of("guidellm", open, promised, 15),
		of(ownName, closed, promised, 14), of(bareName, closed, promised, 10), of(ownName, open, most, 1),
		{Tool: "guidellm", Load: closed, Streams: promised, Why: "died"},
	}}
	var got []string
	for _, p := range f.promises() {
		got = append(got, p.figure+" "+p.kept)
	}
	want := []string{"0.0667 no", "0.0667 yes", "– not measured", "– not measured", "1.4 yes", "1.4 yes", "0.0667 yes", "– not measured", "0; 1 ms; 100 of 100 yes", "– not measured"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFiguresAreReadAsWritten(t *testing.T) {
	x := 1.5
	want := figures{Schema: "benchgate.client-speed/v1", Simulated: true, Command: "c", Machine: "m", Rows: []row{
		{Tool: "a", Load: open, Streams: 1, Round: 1, Requests: 5, TTFTErrorP50: &x}, {Tool: "b", Why: "no"},
	}}
	path := filepath.Join(t.TempDir(), "f.json")
	if err := want.save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(data)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	kept, err := others(path, []int{2, 1})
	if diff := cmp.Diff(want.Rows[1:], kept); diff != "" || err != nil {
		t.Errorf("%v, rows of other streams (-want +got)\n%s", err, diff)
	}
	for _, text := range []string{"", "{", `{"schema":"other"}`} {
		if _, err := read([]byte(text)); err == nil {
			t.Errorf("%q is read without an error", text)
		}
	}
}

func TestTheDocumentShowsTheFigures(t *testing.T) {
	data, err := os.ReadFile("../client.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../" + document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.into(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, text) {
		t.Errorf("go run ./bench/client -table (-want +got)\n%s", cmp.Diff(string(want), string(text)))
	}
}
