package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// entry is one key of the file; the order is the one in which vllm bench serve writes.
type entry struct {
	key   string
	value any
}

// WriteVLLM writes one run in the shape of a result of vllm bench serve --save-detailed: times in milliseconds where a key
// says so, else in seconds; a failed request has zeros in the lists and a text in errors. What could not be measured is
// null, where vllm bench serve writes 0. Meta sets date, backend, model_id, request_rate and other keys that say what was
// asked; a key that is measured is refused, any other is added as --metadata does.
func WriteVLLM(w io.Writer, run bench.Run, requests []bench.Request, meta map[string]any) error {
	if run.Sent != len(requests) {
		return fmt.Errorf("write vllm result: the run sent %d requests, and %d are there", run.Sent, len(requests))
	}
	head, measured := vllmHead(run, meta), append(vllmTotals(run, requests), vllmLists(requests)...)
	measured = append(measured, vllmStatistics(run, requests)...)
	var b bytes.Buffer
	seen := map[string]bool{}
	for i, e := range append(head, measured...) {
		if seen[e.key] {
			return fmt.Errorf("write vllm result: %q is measured and cannot be set", e.key)
		}
		seen[e.key] = true
		value, err := json.Marshal(e.value)
		if err != nil {
			return fmt.Errorf("write vllm result: %q: %w", e.key, err)
		}
		key, err := json.Marshal(e.key)
		if err != nil {
			return fmt.Errorf("write vllm result: %w", err)
		}
		separator := ", "
		if i == 0 {
			separator = "{"
		}
		b.WriteString(separator + string(key) + ": " + string(value))
	}
	b.WriteString("}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// vllmHead says what was asked, as far as meta knows; what is not known is null.
func vllmHead(run bench.Run, meta map[string]any) []entry {
	ended := run.Started.Add(time.Duration(run.Duration * float64(time.Second)))
	head := []entry{
		{"date", ended.UTC().Format("20060102-150405")},
		{"endpoint_type", "openai-chat"},
		{"backend", "openai-chat"},
		{"label", nil},
		{"model_id", "unknown"},
		{"tokenizer_id", nil},
		{"num_prompts", run.Sent},
		{"request_rate", nil},
		{"burstiness", nil},
		{"max_concurrency", nil},
	}
	meta = maps.Clone(meta)
	for i, e := range head {
		if v, ok := meta[e.key]; ok {
			head[i].value = v
			delete(meta, e.key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		head = append(head, entry{key, meta[key]})
	}
	return head
}

func vllmTotals(run bench.Run, requests []bench.Request) []entry {
	in, out := 0, 0
	for _, q := range requests {
		if q.Class == bench.OK {
			in += q.InputTokens
			out += q.OutputTokens
		}
	}
	perSecond := func(n int) any {
		if run.Duration <= 0 {
			return nil
		}
		return float64(n) / run.Duration
	}
	var goodput any
	if run.Good != nil {
		goodput = perSecond(*run.Good)
	}
	tokens, running := peaks(requests)
	return []entry{
		{"duration", run.Duration},
		{"completed", run.OK},
		{"failed", run.Sent - run.OK},
		{"total_input_tokens", in},
		{"total_output_tokens", out},
		{"request_throughput", perSecond(run.OK)},
		{"request_goodput", goodput},
		{"output_throughput", perSecond(out)},
		{"total_token_throughput", perSecond(in + out)},
		{"max_output_tokens_per_s", tokens},
		{"max_concurrent_requests", running},
		{"rtfx", 0.0},
	}
}

// peaks are what vllm bench serve calls so: the most chunks that came in one second of its clock, which begins with the
// first request that succeeded, and the most such requests at one time.
func peaks(requests []bench.Request) (chunks float64, running int) {
	var ok []bench.Request
	first := math.Inf(1)
	for _, q := range requests {
		if q.Class == bench.OK {
			ok = append(ok, q)
			first = min(first, q.Sent)
		}
	}
	second := map[int]int{}
	type change struct {
		at float64
		by int
	}
	var changes []change
	for _, q := range ok {
		at := q.FirstToken
		second[int(at-first)]++
		for _, gap := range q.Gaps {
			at += gap
			second[int(at-first)]++
		}
		changes = append(changes, change{q.Sent, 1}, change{q.LastToken, -1})
	}
	for _, n := range second {
		chunks = max(chunks, float64(n))
	}
	slices.SortFunc(changes, func(a, b change) int {
		if a.at != b.at {
			return int(math.Copysign(1, a.at-b.at))
		}
		return a.by - b.by
	})
	now := 0
	for _, c := range changes {
		now += c.by
		running = max(running, now)
	}
	return chunks, running
}

func vllmLists(requests []bench.Request) []entry {
	n := len(requests)
	in, out := make([]int, n), make([]int, n)
	ttft, latency, started, queue := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	itls, texts, errs := make([][]float64, n), make([]string, n), make([]string, n)
	for i, q := range requests {
		in[i], started[i], queue[i] = q.InputTokens, q.Sent, max(0, q.Sent-q.Scheduled)
		itls[i], texts[i] = []float64{}, q.Text
		if q.Class != bench.OK {
			errs[i] = string(q.Class) + ": " + q.Error
			continue
		}
		out[i] = q.OutputTokens
		ttft[i], _ = q.TTFT()
		latency[i], _ = q.E2EL()
		itls[i] = append(itls[i], q.Gaps...)
	}
	return []entry{
		{"input_lens", in},
		{"output_lens", out},
		{"ttfts", ttft},
		{"itls", itls},
		{"latencies", latency},
		{"start_times", started},
		{"queue_times", queue},
		{"generated_texts", texts},
		{"errors", errs},
	}
}

// vllmStatistics are mean, median, standard deviation (of the population, as NumPy's) and percentiles in milliseconds.
func vllmStatistics(run bench.Run, requests []bench.Request) []entry {
	metrics := bench.Condense(requests, run.Duration, bench.SLO{}).Metrics
	ms := func(name string) any {
		if v, ok := metrics[name]; ok {
			return 1000 * v
		}
		return nil
	}
	var all []entry
	for _, t := range []struct {
		theirs, ours string
		value        func(bench.Request) (float64, bool)
	}{
		{"ttft", "ttft", bench.Request.TTFT},
		{"tpot", "tpot", bench.Request.TPOT},
		{"itl", "icl", nil},
		{"e2el", "e2el", bench.Request.E2EL},
	} {
		all = append(all,
			entry{"mean_" + t.theirs + "_ms", ms(t.ours + ".mean")},
			entry{"median_" + t.theirs + "_ms", ms(t.ours + ".p50")},
			entry{"std_" + t.theirs + "_ms", spread(requests, t.value, metrics[t.ours+".mean"])},
		)
		for _, p := range []string{"p50", "p90", "p95", "p99"} {
			all = append(all, entry{p + "_" + t.theirs + "_ms", ms(t.ours + "." + p)})
		}
	}
	return all
}

// spread is the standard deviation around a mean, in milliseconds; nil of nothing.
func spread(requests []bench.Request, value func(bench.Request) (float64, bool), mean float64) any {
	n, sum := 0, 0.0
	add := func(v float64) {
		n++
		sum += (v - mean) * (v - mean)
	}
	for _, q := range requests {
		if q.Class != bench.OK {
			continue
		}
		if value == nil {
			for _, gap := range q.Gaps {
				add(gap)
			}
		} else if v, ok := value(q); ok {
			add(v)
		}
	}
	if n == 0 {
		return nil
	}
	return 1000 * math.Sqrt(sum/float64(n))
}
