package ingest

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// vllmTool is the value of [bench.KeyTool] for these files.
const vllmTool = "vllm bench serve"

// Limits of a plausible file.
const (
	maxSeconds = 1e8
	maxTokens  = 1_000_000_000
)

// vllmTimes maps vLLM's names of times to ours. What it calls ITL are gaps between stream chunks; what includes its
// client's queue is measured from the moment when the schedule released the request.
var vllmTimes = map[string]string{
	"ttft": "ttft", "tpot": "tpot", "itl": "icl", "e2el": "e2el", "client_queue_time": "queue", "e2el_including_client_queue": "e2el_sched",
}

var vllmStatistic = regexp.MustCompile(`^(mean|median|p[0-9.]+)_([a-z0-9_]+)_ms$`)

func isVLLM(r result) bool {
	return r.has("num_prompts") && r.has("completed") && r.has("request_throughput")
}

// readVLLM reads one result of vllm bench serve, with or without --save-detailed.
func readVLLM(r result) (pass, error) {
	if r.has("total_input_sequences") {
		return pass{}, errors.New("a result of pooling: it holds no token and so no latency to judge")
	}
	if !isVLLM(r) {
		return pass{}, errors.New("no num_prompts, completed and request_throughput: not a result of vllm bench serve")
	}
	p := pass{from: r.from, tool: vllmTool}
	var err error
	if p.date, err = vllmDate(r); err != nil {
		return pass{}, err
	}
	if p.model, _ = r.text("model_id"); p.model == "" {
		return pass{}, errors.New(`no "model_id": not a result of vllm bench serve`)
	}
	c, err := countsOf(r)
	if err != nil {
		return pass{}, err
	}
	if p.run, err = vllmRun(r, &c); err != nil {
		return pass{}, err
	}
	p.run.Started = p.date.Add(-time.Duration(p.run.Duration * float64(time.Second)))
	if p.workload, err = vllmWorkload(r, c); err != nil {
		return pass{}, err
	}
	p.underTest = vllmFacts(r)
	return p, bench.CheckRun(p.run)
}

// vllmDate reads the end of the run. The file has the local time of its machine and no zone; it is taken as UTC.
func vllmDate(r result) (time.Time, error) {
	s, _ := r.text("date")
	t, err := time.Parse("20060102-150405", s)
	if err != nil || t.Year() < 2020 || t.Year() > 2050 {
		return time.Time{}, fmt.Errorf(`"date" is %s: want such as "20260901-101500"`, quote(s))
	}
	return t, nil
}

// vllmRun condenses a result: from the single requests where they are told, else from the statistics in the file.
func vllmRun(r result, c *counts) (bench.Run, error) {
	duration, _, err := r.number("duration")
	if err != nil {
		return bench.Run{}, err
	}
	if !(duration > 0 && duration < maxSeconds) {
		return bench.Run{}, fmt.Errorf(`"duration" is %v: want seconds above 0`, duration)
	}
	requests, err := vllmRequests(r, c)
	if err != nil {
		return bench.Run{}, err
	}
	if c.ok == 0 {
		return allFailed(duration, *c), nil
	}
	var run bench.Run
	if requests != nil {
		run = fromRequests(r, *c, requests, duration)
	} else if run, err = fromStatistics(r, *c, duration); err != nil {
		return bench.Run{}, err
	}
	run.FirstError = c.firstError
	if c.asked != c.sent {
		run.Warnings = append(run.Warnings, fmt.Sprintf("%d prompts were asked for and %d requests sent", c.asked, c.sent))
	}
	run.Warnings = append(run.Warnings, c.warnings...)
	return run, goodput(r, &run)
}

// allFailed has no metric at all: vLLM writes 0.0 for every latency of such a run.
func allFailed(duration float64, c counts) bench.Run {
	return bench.Run{
		Duration: duration, Sent: c.sent, Failed: c.failed, Metrics: map[string]float64{},
		Invalid: fmt.Sprintf("all %d requests failed", c.sent), FirstError: c.firstError,
	}
}

// goodput is the rate that met an objective; which one, the file does not say. Old versions misspelt the key.
func goodput(r result, run *bench.Run) error {
	for _, key := range []string{"request_goodput", "request_goodput:"} {
		v, ok, err := r.number(key)
		if err != nil {
			return err
		}
		if ok && v > 0 && v < 1e9 {
			run.Metrics["goodput.rate"] = v
			run.Warnings = append(run.Warnings, "goodput was counted against an objective that the file does not name")
			return nil
		}
	}
	return nil
}

// fromStatistics takes the statistics that a default file holds.
func fromStatistics(r result, c counts, duration float64) (bench.Run, error) {
	run := bench.Run{Duration: duration, Sent: c.sent, OK: c.ok, Failed: c.failed, Metrics: map[string]float64{
		"error.ratio": float64(c.sent-c.ok) / float64(c.sent), "request.rate": float64(c.ok) / duration,
	}}
	in, _, err := r.count("total_input_tokens")
	if err != nil {
		return run, err
	}
	out, ok, err := r.count("total_output_tokens")
	if err != nil {
		return run, err
	}
	run.InputTokens, run.OutputTokens = float64(in)/float64(c.ok), float64(out)/float64(c.ok)
	if ok {
		run.Metrics["output.rate"] = float64(out) / duration
	}
	for _, key := range slices.Sorted(maps.Keys(r.fields)) {
		if err := statistic(r, key, &run); err != nil {
			return run, err
		}
	}
	return run, fromLatencies(r, c, &run)
}

// fromLatencies adds what the two lists tell that even a default file holds since vLLM 0.33. They do not say which requests
// failed, so they are of use only where none did.
func fromLatencies(r result, c counts, run *bench.Run) error {
	latencies, err := r.floats("latencies")
	if err != nil || latencies == nil || c.ok != c.sent {
		return err
	}
	requests := make([]bench.Request, len(latencies))
	for i, v := range latencies {
		if !(v > 0 && v < maxSeconds) {
			return fmt.Errorf(`"latencies", entry %d: it succeeded after %v s`, i+1, v)
		}
		requests[i] = bench.Request{Class: bench.OK, LastToken: v}
	}
	for name, v := range bench.Condense(requests, run.Duration, bench.SLO{}).Metrics {
		if strings.HasPrefix(name, "e2el.") {
			run.Metrics[name] = v
		}
	}
	return nil
}

// statistic takes one statistic. A zero stands for no value at all (a time per token of one-token answers), NaN too.
func statistic(r result, key string, run *bench.Run) error {
	name, ok := vllmMetric(key)
	if !ok {
		return nil
	}
	ms, ok, err := r.number(key)
	if err != nil || !ok {
		return err
	}
	switch {
	case ms < 0:
		return fmt.Errorf("%s is %v: negative", quote(key), ms)
	case !(ms < 1e12): // NaN too
		run.Warnings = append(run.Warnings, fmt.Sprintf("%s is %v and left out", key, ms))
	case ms > 0 || strings.HasPrefix(name, "queue."):
		run.Metrics[name] = ms / 1000
	}
	return nil
}

// vllmMetric maps a key such as p99_itl_ms to icl.p99.
func vllmMetric(key string) (string, bool) {
	m := vllmStatistic.FindStringSubmatch(key)
	if m == nil || vllmTimes[m[2]] == "" {
		return "", false
	}
	name := vllmTimes[m[2]] + "." + m[1]
	if m[1] == "median" {
		name = vllmTimes[m[2]] + ".p50"
	}
	_, err := bench.ParseMetric(name)
	return name, err == nil
}

// vllmWorkload is what was asked of the server.
func vllmWorkload(r result, c counts) (workload, error) {
	backend, ok := r.text("backend")
	if !ok {
		backend, _ = r.text("endpoint_type")
	}
	endpoint, ok := r.text("endpoint_type")
	if !ok {
		endpoint = backend
	}
	if endpoint == backend {
		endpoint = ""
	}
	ramp, _ := r.text("ramp_up_strategy")
	w := workload{asked: []fact{{"backend", backend}, {"endpoint", endpoint}, {"prompts", fmt.Sprint(c.asked)}, {"ramp up", ramp}}, input: -1}
	for _, key := range []string{"request_rate", "burstiness", "max_concurrency", "ramp_up_start_rps", "ramp_up_end_rps"} {
		v, ok, err := r.number(key)
		if err != nil {
			return w, err
		}
		f := fact{name: strings.ReplaceAll(key, "_", " ")}
		if ok {
			f.value = fmt.Sprint(v)
		}
		w.asked = append(w.asked, f)
	}
	err := w.takeInput(r, c)
	return w, err
}

// takeInput finds the lengths of the prompts; without their list it is told what they sum up to.
func (w *workload) takeInput(r result, c counts) error {
	total, ok, err := r.count("total_input_tokens")
	if err != nil {
		return err
	}
	if ok && c.ok > 0 && total%c.ok == 0 {
		// Only successes are counted. Where prompts have one length, as random ones by default, those of failures are known
		// too; where lengths differ, the sum does not divide evenly but by chance, and then the two sides do not agree.
		w.input = total / c.ok * c.sent
	} else if ok && c.ok == c.sent {
		w.input = total
	}
	lengths, err := list[int](r, "input_lens")
	if err != nil || lengths == nil {
		return err
	}
	w.input, w.lengths = 0, hash(fmt.Sprint(lengths))
	for i, n := range lengths {
		if n < 0 || n > maxTokens {
			return fmt.Errorf(`"input_lens", entry %d: %d is not a length`, i+1, n)
		}
		w.input += n
	}
	return nil
}

// vllmKeys are the texts that every result holds; other texts at the top come from --metadata.
var vllmKeys = []string{"date", "endpoint_type", "backend", "label", "model_id", "request_rate", "burstiness", "ramp_up_strategy", "max_concurrency"}

// vllmFacts are the facts under test: what --metadata put into the file, such as a commit or a version.
func vllmFacts(r result) map[string]string {
	facts := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(r.fields)) {
		value, ok := r.text(key)
		_, metric := vllmMetric(key)
		if ok && !metric && value != "" && len(key) <= 60 && len(value) <= 300 && len(facts) < 40 && !slices.Contains(vllmKeys, key) {
			facts[key] = value
		}
	}
	return facts
}
