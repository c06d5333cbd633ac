package ingest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestDefaultFilesGiveTheirOwnStatisticsInSeconds(t *testing.T) {
	run := only(t, imported(t, "default.json"))
	var said map[string]any
	if err := json.Unmarshal([]byte(strings.Replace(data(t, "default.json"), "Infinity", "null", 1)), &said); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key string
		per float64
	}{
		"ttft.mean": {"mean_ttft_ms", 1000}, "ttft.p50": {"median_ttft_ms", 1000}, "ttft.p99": {"p99_ttft_ms", 1000},
		"tpot.mean": {"mean_tpot_ms", 1000}, "icl.p50": {"median_itl_ms", 1000}, "icl.p99": {"p99_itl_ms", 1000},
		"request.rate": {"request_throughput", 1}, "output.rate": {"output_throughput", 1},
	} {
		if diff := cmp.Diff(said[c.key].(float64)/c.per, run.Metrics[name], near); diff != "" {
			t.Errorf("%s (-file +run):\n%s", name, diff)
		}
	}
	for _, absent := range []string{"ttft.p95", "ttft.gmean", "ttfot.p50", "queue.p50", "ttft_sched.p50", "goodput.rate", "goodput.ratio"} {
		if v, ok := run.Metrics[absent]; ok {
			t.Errorf("%s = %v, which the file does not hold", absent, v)
		}
	}
	if run.Sent != 60 || run.OK != 60 || run.InputTokens != 30 || run.OutputTokens != 4.5 {
		t.Errorf("counts: %+v", run)
	}
}

// What a default file says of the same requests, NumPy computed; what a detailed one says, we did.
func TestDetailedFilesAreRecomputedAndAgreeWithNumPy(t *testing.T) {
	said := only(t, imported(t, "default_every_statistic.json"))
	computed := only(t, imported(t, "detailed_every_statistic.json"))
	if len(said.Metrics) < 40 {
		t.Errorf("only %d statistics", len(said.Metrics))
	}
	for name, v := range said.Metrics {
		if diff := cmp.Diff(v, computed.Metrics[name], near); diff != "" {
			t.Errorf("%s (-numpy +ours):\n%s", name, diff)
		}
	}
	if said.Sent != computed.Sent || said.OK != computed.OK || said.OK != 62 {
		t.Errorf("said %d of %d, computed %d of %d", said.OK, said.Sent, computed.OK, computed.Sent)
	}
}

func TestLatenciesOfADefaultFileAreUsedWhereNothingFailed(t *testing.T) {
	if v := only(t, imported(t, "default.json")).Metrics["e2el.p95"]; v < 0.15 || v > 0.3 {
		t.Errorf("e2el.p95 = %v", v)
	}
	with := strings.Replace(data(t, "default_every_statistic.json"), "_e2el", "_x", -1)
	d, err := Digest("vllm", []File{file("x", with)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := only(t, d).Metrics["e2el.p95"]; ok {
		t.Errorf("e2el.p95 = %v, although nobody says which requests failed", v)
	}
}

func TestFailuresAreToldByTheirErrors(t *testing.T) {
	run := only(t, imported(t, "detailed.json"))
	if diff := cmp.Diff(map[bench.Class]int{bench.Overloaded: 1, bench.Other: 1}, run.Failed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if run.FirstError != "Service Unavailable" || run.Metrics["error.ratio"] != 2.0/64 {
		t.Errorf("first error %q, error.ratio %v", run.FirstError, run.Metrics["error.ratio"])
	}
	// The request that broke in mid-stream has a real TTFT, which must not count: with it there would be 63 values.
	text := strings.Replace(data(t, "detailed.json"), `ClientPayloadError: Response`, `X`, 1)
	d, err := Digest("auto", []File{file("x", text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run.Metrics, only(t, d).Metrics); diff != "" {
		t.Errorf("the text of an error changes statistics:\n%s", diff)
	}
}

func TestFailureWithoutAMessageIsToldByItsMissingOutput(t *testing.T) {
	run := only(t, imported(t, "silent_failure.json"))
	if run.OK != 19 || run.Failed[bench.Other] != 1 {
		t.Errorf("ok %d, failed %v", run.OK, run.Failed)
	}
}

func TestAllFailedIsInvalidAndHasNoMetrics(t *testing.T) {
	for _, name := range []string{"all_failed.json", "all_failed_detailed.json"} {
		run := only(t, imported(t, name))
		if run.OK != 0 || run.Sent != 12 || len(run.Metrics) > 0 || run.Invalid != "all 12 requests failed" {
			t.Errorf("%s: %+v", name, run)
		}
	}
	if run := only(t, imported(t, "all_failed_detailed.json")); run.Failed[bench.HTTP4xx] != 12 || run.FirstError != "Not Found" {
		t.Errorf("%+v", run)
	}
}

func TestOneTokenAnswersHaveNoTimePerToken(t *testing.T) {
	for name, v := range only(t, imported(t, "one_token.json")).Metrics {
		if strings.HasPrefix(name, "tpot.") || strings.HasPrefix(name, "icl.") {
			t.Errorf("%s = %v: vLLM's zero was taken for a time", name, v)
		}
	}
}

func TestOldFilesAreRead(t *testing.T) {
	d := imported(t, "old.json")
	run := only(t, d)
	if run.Sent != 50 || run.OK != 50 || run.Metrics["goodput.rate"] <= 0 || run.Metrics["ttft.p95"] <= 0 || run.Metrics["e2el.p50"] <= run.Metrics["ttft.p50"] {
		t.Errorf("%+v", run)
	}
	if _, ok := run.Metrics["queue.p50"]; ok {
		t.Error("the file does not know of a queue")
	}
	if diff := cmp.Diff(map[string]string{"gateway": "none", "gpu": "H100", "model": "llama-3.1-8b", "tokenizer_id": "Qwen/Qwen3-8B"}, d.Sessions[0].UnderTest); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if len(d.Sessions[0].Warnings) != 1 || !strings.Contains(d.Sessions[0].Warnings[0], "objective") {
		t.Errorf("warnings %v", d.Sessions[0].Warnings)
	}
}

func TestNaNAndInfinityAreMissing(t *testing.T) {
	d := imported(t, "nan.json")
	run := only(t, d)
	for _, name := range []string{"icl.mean", "icl.p99", "icl.p50"} {
		if v, ok := run.Metrics[name]; ok {
			t.Errorf("%s = %v", name, v)
		}
	}
	if run.Sent != 30 || run.Metrics["ttft.p50"] <= 0 {
		t.Errorf("%+v", run)
	}
	if w := strings.Join(d.Sessions[0].Warnings, "\n"); !strings.Contains(w, "mean_itl_ms") || !strings.Contains(w, "p99_itl_ms") {
		t.Errorf("warnings %q", w)
	}
}

func TestFewerRequestsThanPromptsAreAWarning(t *testing.T) {
	run := only(t, imported(t, "fewer_sent.json"))
	if run.Sent != 20 || len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "25 prompts were asked for and 20 requests sent") {
		t.Errorf("%+v", run)
	}
}

// A failure hides its prompt tokens from a default file. Prompts of one length tell them all the same, and so do the other
// files of the import.
func TestFailuresDoNotChangeTheWorkload(t *testing.T) {
	one := strings.Replace(data(t, "default.json"), `"completed": 60, "failed": 0, "total_input_tokens": 1800`, `"completed": 59, "failed": 1, "total_input_tokens": 1770`, 1)
	one = strings.Replace(one, "20260901-101500", "20260901-111500", 1)
	many := strings.Replace(one, `"total_input_tokens": 1770`, `"total_input_tokens": 1771`, 1)
	for name, c := range map[string]struct {
		files        []File
		incomparable int
	}{
		"one length":                  {[]File{file("one.json", one)}, 0},
		"several lengths":             {[]File{file("many.json", many)}, 1},
		"several, and a sound result": {[]File{dated(t, "20260901-101500"), file("many.json", many)}, 0},
	} {
		d, err := Digest("auto", c.files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := bench.Compare(imported(t, "default.json"), d).Incomparable; len(got) != c.incomparable {
			t.Errorf("%s: incomparable: %v", name, got)
		}
	}
}

// Each case changes a good file and names a part of the message.
func TestDamagedFilesAreRefused(t *testing.T) {
	base, detailed := data(t, "default.json"), data(t, "detailed.json")
	swap := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the example holds no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"zero bytes":           {"", "empty file"},
		"only a BOM":           {"\xef\xbb\xbf", "empty file"},
		"cut":                  {base[:len(base)/2], "line 1: the file ends too early"},
		"cut second":           {data(t, "append.jsonl")[:4000], "line 2: the file ends too early"},
		"LFS pointer":          {"version https://git-lfs.github.com/spec/v1\n", "LFS"},
		"conflict":             {base + "\n=======\n", "conflict marker"},
		"a list":               {"[" + base + "]", "line 1: not an object"},
		"a number":             {"17", "line 1: not an object"},
		"null":                 {"null", "null instead of a result"},
		"text":                 {"Serving Benchmark Result", "line 1: invalid character"},
		"a closing bracket":    {"]", "line 1: invalid character ']'"},
		"one at the end":       {base + "\n]", "line 2: invalid character ']'"},
		"deep nesting":         {strings.Repeat(`{"a":`, 100000), "nested deeper than 32"},
		"nested but cut":       {`{"a":"` + strings.Repeat("[", 1000), "the file ends too early"},
		"a digest":             {`{"schema":"benchgate.digest/v1"}`, "a file of benchgate itself"},
		"another tool":         {`{"benchmarks":[],"metadata":{}}`, "not a result of vllm"},
		"pooling":              {data(t, "pooling.json"), "pooling"},
		"no date":              {swap(base, `"date": "20260901-101500"`, `"date": "yesterday"`), `"date" is "yesterday"`},
		"no model":             {swap(base, `"model_id"`, `"m"`), "model_id"},
		"no duration":          {swap(base, `"duration"`, `"d"`), `"duration" is 0`},
		"NaN duration":         {swap(base, `"duration": 6.24904798141215`, `"duration": NaN`), `"duration" is NaN`},
		"negative time":        {swap(base, `"mean_ttft_ms": `, `"mean_ttft_ms": -`), `"mean_ttft_ms" is -`},
		"text for a number":    {swap(base, `"mean_ttft_ms": `, `"mean_ttft_ms": "fast", "x": `), `"mean_ttft_ms": "fast" is not a number`},
		"a list for a number":  {swap(base, `"mean_ttft_ms": `, `"mean_ttft_ms": [1], "x": `), `"mean_ttft_ms": "[1]" is not a number`},
		"half a request":       {swap(base, `"completed": 60`, `"completed": 59.5`), "not a count"},
		"too many completed":   {swap(base, `"completed": 60`, `"completed": 61`), "60 prompts, 61 completed and 0 failed do not add up to 60"},
		"too few completed":    {swap(base, `"completed": 60`, `"completed": 58`), "do not add up"},
		"more than prompts":    {swap(base, `"num_prompts": 60`, `"num_prompts": 59`), "do not add up"},
		"nothing sent":         {`{"num_prompts":0,"completed":0,"request_throughput":0,"date":"20260901-101500","model_id":"m","duration":1}`, "no request was sent"},
		"negative count":       {swap(base, `"failed": 0`, `"failed": -1`), "not a count"},
		"a count without end":  {swap(base, `"num_prompts": 60`, `"num_prompts": 1e999`), "not a count"},
		"lists of two lengths": {swap(detailed, `"ttfts": [`, `"ttfts": [0.1, `), `"ttfts" has 65 entries for 64 requests`},
		"an error too many":    {swap(detailed, `"errors": [""`, `"errors": ["boom"`), `"completed" is 62, but 61 requests have no error`},
		"NaN in a success":     {swap(detailed, `"ttfts": [`, `"ttfts": [NaN, `+"\x00"), "line 1"},
		"a negative latency":   {negative(detailed, `"latencies": [`), "request 1: it succeeded, and one of its times is -"},
		"a negative gap":       {negative(detailed, `"itls": [[`), "request 1: it succeeded, and one of its times is -"},
		"end before the first": {zeroed(detailed, `"latencies": [`), "before its first token"},
		"negative tokens":      {negative(detailed, `"output_lens": [`), "not counts"},
		"negative input":       {negative(detailed, `"input_lens": [`), "not counts"},
		"text among numbers":   {swap(detailed, `"ttfts": [`, `"ttfts": ["slow", `), `"ttfts": entry 1: "slow" is not a number`},
		"zero in latencies":    {zeroed(base, `"latencies": [`), `"latencies", entry 1`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Digest("auto", []File{file("run1.json", c.text)}, Options{})
			if err == nil {
				t.Fatalf("read as %+v", d)
			}
			if !strings.HasPrefix(err.Error(), `read "run1.json`) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func negative(text, list string) string { return strings.Replace(text, list, list+"-", 1) }

// zeroed makes the first entry of a list 0.
func zeroed(text, list string) string {
	i := strings.Index(text, list) + len(list)
	return text[:i] + "0.0" + text[i+strings.Index(text[i:], ","):]
}

func TestSuccessWithoutATokenHasFailed(t *testing.T) {
	text := zeroed(data(t, "detailed.json"), `"ttfts": [`)
	d, err := Digest("auto", []File{file("x", text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := only(t, d)
	if run.OK != 61 || run.Failed[bench.Empty] != 1 || len(run.Warnings) == 0 {
		t.Errorf("ok %d, failed %v, warnings %v", run.OK, run.Failed, run.Warnings)
	}
}

func TestTimesWithoutErrorsAreNotTrusted(t *testing.T) {
	text := strings.Replace(data(t, "detailed.json"), `"errors": `, `"x": `, 1)
	d, err := Digest("auto", []File{file("x", text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if run := only(t, d); len(run.Warnings) == 0 || run.Metrics["ttft.p95"] != 0 || run.Metrics["ttft.p99"] == 0 {
		t.Errorf("%+v", run)
	}
}
