package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

var near = cmpopts.EquateApprox(1e-9, 0)

// data is a file of testdata/vllm, which testdata/make.py made with NumPy.
func data(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/vllm", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func file(name, text string) File { return File{name, strings.NewReader(text)} }

func imported(t *testing.T, names ...string) bench.Digest {
	t.Helper()
	var files []File
	for _, name := range names {
		files = append(files, file(name, data(t, name)))
	}
	d, err := Digest("auto", files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func only(t *testing.T, d bench.Digest) bench.Run {
	t.Helper()
	if len(d.Sessions) != 1 || len(d.Sessions[0].Runs()) != 1 {
		t.Fatalf("not one run: %+v", d.Sessions)
	}
	return d.Sessions[0].Runs()[0]
}

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

func TestAppendedResultsAreRunsInTheOrderOfTheirDates(t *testing.T) {
	for name, text := range map[string]string{
		"as it is": data(t, "append.jsonl"), "newline at the end": data(t, "append.jsonl") + "\n", "BOM": "\xef\xbb\xbf" + data(t, "append.jsonl"),
		"CRLF": strings.ReplaceAll(data(t, "append.jsonl"), "\n", "\r\n"), "last first": swapped(data(t, "append.jsonl")),
	} {
		d, err := Digest("auto", []File{file("append.jsonl", text)}, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range d.Sessions[0].Runs() {
			got = append(got, fmt.Sprint(r.Order, r.Started.Add(time.Duration(r.Duration*1e9)).Format(" 15:04:05")))
		}
		if diff := cmp.Diff([]string{"1 10:30:10", "2 10:30:20", "3 10:30:30"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func swapped(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join([]string{lines[2], lines[0], lines[1]}, "\n")
}

// dated is the default file at another time.
func dated(t testing.TB, date string) File {
	return file(date+".json", strings.Replace(data(t, "default.json"), "20260901-101500", date, 1))
}

func TestSessionsAreTheDatesOfTheFiles(t *testing.T) {
	d, err := Digest("auto", []File{dated(t, "20260902-000300"), dated(t, "20260901-235500"), dated(t, "20260901-235000")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range d.Sessions {
		for _, r := range s.Runs() {
			got = append(got, fmt.Sprint(s.ID, " ", r.Order, s.Interleaved))
		}
	}
	if diff := cmp.Diff([]string{"2026-09-01 1 false", "2026-09-01 2 false", "2026-09-02 1 false"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The two sides of an interleaved session are imported apart, and their runs still have one order.
func TestNamedSessionsAreInterleavedAndOrderedOverBothSides(t *testing.T) {
	o := Options{Session: "night"}
	base, err := Digest("auto", []File{dated(t, "20260901-101500"), dated(t, "20260901-102500")}, o)
	if err != nil {
		t.Fatal(err)
	}
	head, err := Digest("auto", []File{dated(t, "20260901-103000"), dated(t, "20260901-102000")}, o)
	if err != nil {
		t.Fatal(err)
	}
	b, h := base.Sessions[0], head.Sessions[0]
	if b.ID != "night" || h.ID != "night" || !b.Interleaved || !h.Interleaved {
		t.Errorf("sessions %+v, %+v", b, h)
	}
	order := []int{b.Runs()[0].Order, h.Runs()[0].Order, b.Runs()[1].Order, h.Runs()[1].Order}
	for i := range 3 {
		if order[i+1]-order[i] != 300 {
			t.Errorf("orders %v: want five minutes between them", order)
		}
	}
}

func TestImportsAreNamedAndSayWhereTheyComeFrom(t *testing.T) {
	d := imported(t, "default.json")
	if d.Runner != "imported" || d.Scenario != "vllm" || d.Simulated {
		t.Errorf("%s/%s, simulated %v", d.Runner, d.Scenario, d.Simulated)
	}
	want := map[string]string{
		bench.KeyModel: "Qwen/Qwen3-8B", bench.KeyTool: "vllm bench serve", bench.KeyDefinitions: "vllm bench serve, type7/1",
		bench.KeyWorkload: "backend openai-chat, prompts 60, request rate 8, burstiness +Inf, input tokens 1800 ",
	}
	d.MustMatch[bench.KeyWorkload], _, _ = strings.Cut(d.MustMatch[bench.KeyWorkload], "#")
	if diff := cmp.Diff(want, d.MustMatch); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d, err := Digest("vllm", []File{dated(t, "20260901-101500")}, Options{Runner: "h100-1x", Scenario: "chat"})
	if err != nil || d.Runner != "h100-1x" || d.Scenario != "chat" {
		t.Errorf("%s/%s, %v", d.Runner, d.Scenario, err)
	}
	if !imported(t, "simulated.json").Simulated {
		t.Error("a simulated server is not marked")
	}
}

func TestWorkloadIsTheSameWhateverTheFileSaysOfIt(t *testing.T) {
	one := imported(t, "default.json")
	again, err := Digest("auto", []File{dated(t, "20260905-080000")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := bench.Compare(one, again); len(c.Incomparable) > 0 {
		t.Errorf("two files of one workload are incomparable: %v", c.Incomparable)
	}
	other, err := Digest("auto", []File{file("x", strings.Replace(data(t, "default.json"), `"request_rate": 8.0`, `"request_rate": 9.0`, 1))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := bench.Compare(one, other); len(c.Incomparable) != 1 {
		t.Errorf("another rate is comparable: %v", c)
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

func TestFilesThatDoNotBelongTogetherAreRefused(t *testing.T) {
	base := data(t, "default.json")
	for name, c := range map[string]struct{ old, new, want string }{
		"rate":        {`"request_rate": 8.0`, `"request_rate": "inf"`, `request rate is "8" and "+Inf"`},
		"burstiness":  {`"burstiness": Infinity`, `"burstiness": 1.0`, `burstiness is "+Inf" and "1"`},
		"concurrency": {`"max_concurrency": null`, `"max_concurrency": 4`, `max concurrency is "" and "4"`},
		"backend":     {`"backend": "openai-chat"`, `"backend": "vllm"`, `backend is "openai-chat" and "vllm"`},
		"input":       {`"total_input_tokens": 1800`, `"total_input_tokens": 1801`, `1800 and 1801 input tokens`},
		"model":       {`"model_id": "Qwen/Qwen3-8B"`, `"model_id": "other"`, `different models: "Qwen/Qwen3-8B" and "other"`},
	} {
		b := strings.Replace(strings.Replace(base, c.old, c.new, 1), "20260901-101500", "20260901-111500", 1)
		_, err := Digest("auto", []File{file("a.json", base), file("b.json", b)}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"a.json" and "b.json"`) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	_, err := Digest("auto", []File{file("a.json", base), file("copy.json", base)}, Options{})
	if err == nil || !strings.Contains(err.Error(), `"a.json" and "copy.json" are the same result`) {
		t.Errorf("the same file twice: error %v", err)
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

func TestUnknownFormatsAndNamesAreRefused(t *testing.T) {
	for _, c := range []struct {
		format string
		files  []File
		o      Options
		want   string
	}{
		{"guidellm", []File{dated(t, "20260901-101500")}, Options{}, `unknown format "guidellm": want auto or vllm`},
		{"auto", nil, Options{}, "0 files"},
		{"auto", make([]File, 1001), Options{}, "1001 files"},
		{"auto", []File{dated(t, "20260901-101500")}, Options{Runner: "../x"}, "runner name"},
		{"auto", []File{dated(t, "20260901-101500")}, Options{Scenario: "A"}, "scenario name"},
		{"vllm", []File{file("x", `{"a":1}`)}, Options{}, "not a result of vllm bench serve"},
		{"auto", []File{{"x", io.MultiReader(strings.NewReader("{"), failing{})}}, Options{}, "closed pipe"},
	} {
		if _, err := Digest(c.format, c.files, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestFilesOfTooManyResultsAreRefused(t *testing.T) {
	text := strings.Repeat("{}\n", 1001)
	if _, err := Digest("auto", []File{file("x", text)}, Options{}); err == nil || !strings.Contains(err.Error(), "more than 1000 results") {
		t.Errorf("error %v", err)
	}
}

func TestDigestsOfImportsCanBeWritten(t *testing.T) {
	names, err := filepath.Glob("testdata/vllm/*")
	if err != nil || len(names) < 14 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if name = filepath.Base(name); name == "pooling.json" {
			continue
		}
		var b bytes.Buffer
		if err := bench.WriteDigest(&b, imported(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := bench.ReadDigest(&b, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bare words of Python become strings, and nothing else changes.
func TestPythonsNumbersBecomeJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": NaN, "b": [-Infinity,Infinity], "c": -1}`: `{"a": "NaN", "b": ["-Infinity","Infinity"], "c": -1}`,
		`{"NaN": "Infinity \" NaN \\", "x": -Infinity}`:  `{"NaN": "Infinity \" NaN \\", "x": "-Infinity"}`,
		`{"a": 1}`: `{"a": 1}`,
		`{"a": "`:  `{"a": "`,
		`"\`:       `"\`,
	} {
		got, err := plain([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, %v, want %s", in, got, err, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		if got, err := plain(in); err == nil && !bytes.ContainsAny(in, "NI") && !bytes.Equal(got, in) {
			t.Fatalf("%q became %q", in, got)
		}
	})
}

func FuzzDigest(f *testing.F) {
	for _, name := range []string{"default.json", "detailed.json", "old.json", "append.jsonl", "nan.json", "all_failed_detailed.json", "pooling.json"} {
		f.Add([]byte(data(f, name)))
	}
	f.Add([]byte(`{"num_prompts":1,"completed":1,"request_throughput":1,"date":"20260901-101500","model_id":"m","duration":1,"ttfts":[1],"errors":[""],"itls":[[]],"output_lens":[1]}`))
	f.Add([]byte(`{"num_prompts":"2","completed":"1","request_throughput":1,"date":"20260901-101500","model_id":"m","duration":"1","errors":["x",null],"ttfts":["0.0",NaN],"itls":[null,[]],"output_lens":[0,1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Digest("auto", []File{{"x", bytes.NewReader(text)}}, Options{})
		if err != nil {
			return
		}
		if err := bench.WriteDigest(io.Discard, d); err != nil {
			t.Fatalf("what was imported cannot be written: %v", err)
		}
		for _, s := range d.Sessions {
			for _, r := range s.Runs() {
				if r.OK == 0 && (len(r.Metrics) > 0 || r.Invalid == "") {
					t.Fatalf("a run without success has metrics: %+v", r)
				}
			}
		}
	})
}
