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

// WriteVLLM writes one run as a result of vllm bench serve --save-detailed, with the numbers that its definitions give: see
// docs/vllm.md. Times are in milliseconds where a key says so, else in seconds; a failed request has a text in errors. What
// could not be measured is null, where vllm bench serve writes 0 or counts the tokens of a text itself. The objective is that
// of request_goodput. Meta sets date, backend, model_id, request_rate and other keys that say what was asked; a key that is
// measured is refused, any other is added as --metadata does.
func WriteVLLM(w io.Writer, run bench.Run, requests []bench.Request, slo bench.SLO, meta map[string]any) error {
	if run.Sent != len(requests) {
		return fmt.Errorf("write vllm result: the run sent %d requests, and %d are there", run.Sent, len(requests))
	}
	requests = asVLLM(requests)
	told := condense(requests, run.Duration, slo)
	head, measured := vllmHead(run, meta), append(vllmTotals(told, requests), vllmLists(requests)...)
	measured = append(measured, vllmStatistics(told, requests)...)
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
	in, inKnown := total(requests, func(q bench.Request) int { return q.InputTokens })
	out, outKnown := total(requests, func(q bench.Request) int { return q.OutputTokens })
	perSecond := func(n int, known bool) any {
		if run.Duration <= 0 || !known {
			return nil
		}
		return float64(n) / run.Duration
	}
	var goodput any
	if run.Good != nil {
		goodput = perSecond(*run.Good, true)
	}
	tokens, running := peaks(requests)
	return []entry{
		{"duration", run.Duration},
		{"completed", run.OK},
		{"failed", run.Sent - run.OK},
		{"total_input_tokens", orNull(in, inKnown)},
		{"total_output_tokens", orNull(out, outKnown)},
		{"request_throughput", perSecond(run.OK, true)},
		{"request_goodput", goodput},
		{"output_throughput", perSecond(out, outKnown)},
		{"total_token_throughput", perSecond(in+out, inKnown && outKnown)},
		{"max_output_tokens_per_s", tokens},
		{"max_concurrent_requests", running},
		{"rtfx", 0.0},
	}
}

// total adds up tokens of successes. It is not known when one of them has none: only its text would tell.
func total(requests []bench.Request, of func(bench.Request) int) (sum int, known bool) {
	known = true
	for _, q := range requests {
		if q.Class == bench.OK {
			sum += of(q)
			known = known && of(q) > 0
		}
	}
	return sum, known
}

func orNull(n int, known bool) any {
	if !known {
		return nil
	}
	return n
}

// peaks are what vllm bench serve calls so: the most chunks that came in one second of its clock, which begins with the
// first request that succeeded, and the most successful requests that were under way at some time in one such second.
func peaks(requests []bench.Request) (chunks float64, running int) {
	first := math.Inf(1)
	for _, q := range requests {
		if q.Class == bench.OK {
			first = min(first, q.Sent)
		}
	}
	came, under := map[int]int{}, map[int]int{}
	for _, q := range requests {
		if q.Class != bench.OK {
			continue
		}
		for _, at := range arrivals(q) {
			came[int(at-first)]++
		}
		for second := int(q.Sent - first); second <= int(q.LastToken-first); second++ {
			under[second]++
		}
	}
	for _, n := range came {
		chunks = max(chunks, float64(n))
	}
	for _, n := range under {
		running = max(running, n)
	}
	return chunks, running
}

func vllmLists(requests []bench.Request) []entry {
	n := len(requests)
	in, out := make([]any, n), make([]any, n)
	ttft, latency, started, queue := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	itls, texts, errs := make([][]float64, n), make([]string, n), make([]string, n)
	for i, q := range requests {
		started[i], queue[i] = q.Sent, max(0, q.Sent-q.Scheduled)
		itls[i], texts[i] = append([]float64{}, q.Gaps...), q.Text
		if q.FirstToken > 0 {
			ttft[i] = q.FirstToken - q.Sent
		}
		if q.Class != bench.OK {
			in[i], out[i] = q.InputTokens, 0
			errs[i] = string(q.Class) + ": " + q.Error
			continue
		}
		in[i], out[i] = orNull(q.InputTokens, q.InputTokens > 0), orNull(q.OutputTokens, q.OutputTokens > 0)
		latency[i], _ = q.E2EL()
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
	metrics := run.Metrics
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
			entry{"std_" + t.theirs + "_ms", spread(requests, t.value, metrics, t.ours+".mean")},
		)
		for _, p := range []string{"p50", "p90", "p95", "p99"} {
			all = append(all, entry{p + "_" + t.theirs + "_ms", ms(t.ours + "." + p)})
		}
	}
	return all
}

// spread is the standard deviation around the mean of that name, in milliseconds; nil where there is none.
func spread(requests []bench.Request, value func(bench.Request) (float64, bool), metrics map[string]float64, name string) any {
	mean, ok := metrics[name]
	if !ok {
		return nil
	}
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
	return 1000 * math.Sqrt(sum/float64(n))
}
