package ingest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// recordOf is a campaign of one run.
func recordOf(requests []bench.Request, slo bench.SLO) bench.CampaignLog {
	log := bench.CampaignLog{
		Header:   bench.Header{MustMatch: map[string]string{bench.KeyDefinitions: bench.Definitions, bench.KeyModel: "m"}, SLOs: map[string]bench.SLO{"chat": slo}},
		Visits:   []bench.VisitRecord{{Number: 1}, {Number: 2, MustMatch: map[string]string{bench.KeyDefinitions: bench.Definitions}}},
		Requests: map[int][]bench.RequestRecord{},
	}
	run := bench.Condense(requests, 20, slo, "ttft.p85")
	run.Order, run.Void, run.Warnings, run.Client.LagP50 = 7, "the host was busy", []string{"mind this"}, 0.001
	log.Runs = []bench.RunRecord{{Scenario: "chat", Visit: 1, Run: run}}
	for _, q := range requests {
		log.Requests[7] = append(log.Requests[7], bench.RequestRecord{Scenario: "chat", Order: 7, Request: q})
	}
	return log
}

func TestACampaignIsToldByTheDefinitionsOfVLLM(t *testing.T) {
	r := record(t)
	for _, g := range r.Groups {
		if g.Name != "all" {
			continue
		}
		log := recordOf(r.played(t, g.Cases), objective(g.Objective))
		strict := log.Runs[0].Run
		told, err := Compat(log)
		if err != nil {
			t.Fatal(err)
		}
		got := told.Runs[0].Run
		for name, key := range map[string]string{
			"ttft.mean": "mean_ttft_ms", "ttft.p50": "median_ttft_ms", "ttft.p95": "p95_ttft_ms", "tpot.mean": "mean_tpot_ms",
			"tpot.p99": "p99_tpot_ms", "icl.mean": "mean_itl_ms", "icl.p99": "p99_itl_ms", "e2el.mean": "mean_e2el_ms", "e2el.p90": "p90_e2el_ms",
		} {
			if diff := cmp.Diff(g.VLLM[key].(float64)/1000, got.Metrics[name], near); diff != "" {
				t.Errorf("%s (-vllm +ours):\n%s", name, diff)
			}
		}
		if float64(got.OK) != g.VLLM["completed"] || float64(got.Sent-got.OK) != g.VLLM["failed"] {
			t.Errorf("ok %d of %d", got.OK, got.Sent)
		}
		if _, ok := got.Metrics["ttft.p85"]; !ok {
			t.Error("a metric that a rule asked for is lost")
		}
		if got.Order != 7 || got.Void != strict.Void || got.Client != strict.Client || got.Warnings[0] != "mind this" {
			t.Errorf("%+v: what its client would not know is lost", got)
		}
		if err := bench.CheckRun(got); err != nil {
			t.Error(err)
		}
		if cmp.Diff(strict, log.Runs[0].Run) != "" || log.Header.MustMatch[bench.KeyDefinitions] != bench.Definitions {
			t.Error("the campaign itself was changed")
		}
		for _, facts := range []map[string]string{told.Header.MustMatch, told.Visits[1].MustMatch} {
			if facts[bench.KeyDefinitions] != VLLMDefinitions {
				t.Errorf("definitions are %q", facts[bench.KeyDefinitions])
			}
		}
		if told.Visits[0].MustMatch != nil {
			t.Error("a visit that knew nothing has facts now")
		}
	}
}

func TestWhatTheRecordCannotTellIsLeftOutWithAWarning(t *testing.T) {
	r := record(t)
	limit := 1.0
	for _, tt := range []struct {
		cases []string
		slo   bench.SLO
		gone  []string
		words string
	}{
		{[]string{"plain", "no_usage"}, bench.SLO{TTFT: &limit}, []string{"tpot.mean", "output.rate"}, "1 of 2 answers hold no count of tokens"},
		{[]string{"plain", "usage_with_text"}, bench.SLO{TPOT: &limit}, []string{"tpot.mean", "output.rate", "goodput.ratio", "goodput.rate"}, "1 of 2 answers hold no count of tokens"},
		{[]string{"plain", "crlf_coalesced"}, bench.SLO{}, nil, "1 of 2 streams are framed so"},
		{[]string{"plain", "runs_on"}, bench.SLO{}, nil, "1 of 2 answers were left by benchgate"},
	} {
		told, err := Compat(recordOf(r.played(t, tt.cases), tt.slo))
		if err != nil {
			t.Fatal(err)
		}
		run := told.Runs[0].Run
		for _, name := range tt.gone {
			if v, ok := run.Metrics[name]; ok {
				t.Errorf("%v: %s is %v", tt.cases, name, v)
			}
		}
		if len(tt.gone) == 0 && run.Metrics["tpot.mean"] == 0 {
			t.Errorf("%v: tpot is gone", tt.cases)
		}
		if run.Metrics["ttft.p50"] == 0 || !strings.Contains(strings.Join(run.Warnings, "\n"), tt.words) {
			t.Errorf("%v: ttft %v, warnings %q", tt.cases, run.Metrics["ttft.p50"], run.Warnings)
		}
	}
}

func TestARunThatLostRequestsIsNotTold(t *testing.T) {
	log := recordOf(sample(), bench.SLO{})
	log.Requests[7] = log.Requests[7][1:]
	if _, err := Compat(log); err == nil || !strings.Contains(err.Error(), "run 7 sent 3 requests") {
		t.Errorf("error %v", err)
	}
}

func TestAWrittenResultWithUntoldTokensIsImportedWithoutThem(t *testing.T) {
	r := record(t)
	requests := r.played(t, []string{"plain", "no_usage", "cut"})
	run := bench.Condense(requests, 5, bench.SLO{})
	var b bytes.Buffer
	if err := WriteVLLM(&b, run, requests, bench.SLO{}, map[string]any{"model_id": "m"}); err != nil {
		t.Fatal(err)
	}
	got := fields(t, b.Bytes())
	if diff := cmp.Diff([]any{8.0, nil, 0.0}, got["output_lens"]); diff != "" || got["total_output_tokens"] != nil || got["mean_tpot_ms"] != nil {
		t.Errorf("output_lens (-want +got):\n%s", diff)
	}
	b.Reset()
	run.Started = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	if err := WriteVLLM(&b, run, requests, bench.SLO{}, map[string]any{"model_id": "m"}); err != nil {
		t.Fatal(err)
	}
	d, err := Digest("auto", []File{{"x.json", &b}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	back := only(t, d)
	for name := range back.Metrics {
		if strings.HasPrefix(name, "tpot.") || name == "output.rate" {
			t.Errorf("%s is %v", name, back.Metrics[name])
		}
	}
	if back.OK != 2 || back.Metrics["ttft.p50"] == 0 || !strings.Contains(strings.Join(back.Warnings, "\n"), "does not tell the number of output tokens") {
		t.Errorf("ok %d, warnings %q", back.OK, back.Warnings)
	}
}
