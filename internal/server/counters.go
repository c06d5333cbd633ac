package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Counter is one total that a server keeps since its start.
type Counter string

// The counters, in requests, tokens and seconds. The sums and numbers of times make means.
const (
	Requests  Counter = "requests"   // answered
	Prompt    Counter = "prompt"     // tokens of prompts, cached ones included
	Fresh     Counter = "fresh"      // … that were worked on: cached ones left out
	Cached    Counter = "cached"     // … that came from a cache
	Asked     Counter = "asked"      // … that a cache was asked for: a prompt that waits for memory asks again and again
	Output    Counter = "output"     // tokens written
	TTFTSum   Counter = "ttft_sum"   // times from the arrival of a request to its first token
	TTFTCount Counter = "ttft_count" // how many
	TPOTSum   Counter = "tpot_sum"   // times per output token
	TPOTCount Counter = "tpot_count"
)

// Counters are what a server's metrics say: totals since its start, or between two looks.
type Counters struct {
	// Engine is the server's name for itself: vllm, sglang, llama.cpp, tgi or simulated.
	Engine string
	// Totals holds what the server keeps; what it does not keep is not there.
	Totals map[Counter]float64
	// coarse is how far a total may be from what was counted, for a server that writes few digits: a share of it.
	coarse float64
	doubt  float64 // in a difference of two: the same, in units of the counter
}

// Of is a total. False: the server does not keep it.
func (c Counters) Of(k Counter) (float64, bool) {
	v, ok := c.Totals[k]
	return v, ok
}

// Doubt is how far a difference of totals may be from the truth because the server wrote too few digits.
func (c Counters) Doubt() float64 { return c.doubt }

// engine says under which names an engine keeps its totals. A counter is the sum of the metrics named, over all their labels;
// the first must be there, the others may be missing.
type engine struct {
	name, prefix string
	names        map[Counter][]string
	// silent counters do not appear before they are first counted up: where Prompt is there, they are 0.
	silent []Counter
	coarse float64
}

// engines are told apart by the prefix of their metrics. The names are those of vLLM 0.33 and its predecessors
// (vllm/v1/metrics/loggers.py), SGLang (srt/metrics/collector.py), llama.cpp (tools/server/server-task.cpp) and TGI.
var engines = []engine{
	{
		name: "vllm", prefix: "vllm:",
		names: map[Counter][]string{
			Requests: {"request_success"}, Prompt: {"prompt_tokens"}, Output: {"generation_tokens"},
			Cached:  {"prefix_cache_hits", "external_prefix_cache_hits"},
			Asked:   {"prefix_cache_queries"},
			TTFTSum: {"time_to_first_token_seconds"}, TPOTSum: {"request_time_per_output_token_seconds"},
		},
	},
	{
		name: "sglang", prefix: "sglang:",
		names: map[Counter][]string{
			Requests: {"num_requests"}, Prompt: {"prompt_tokens"}, Output: {"generation_tokens"}, Cached: {"cached_tokens"},
			TTFTSum: {"time_to_first_token_seconds"}, TPOTSum: {"inter_token_latency_seconds"},
		},
		silent: []Counter{Cached},
	},
	{
		// Its seconds are those of batches, not of requests: no mean of theirs is a ttft or a tpot.
		name: "llama.cpp", prefix: "llamacpp:", coarse: 5e-6,
		names: map[Counter][]string{Fresh: {"prompt_tokens"}, Cached: {"prompt_tokens_cached"}, Output: {"tokens_predicted"}},
	},
	{
		name: "tgi", prefix: "tgi_",
		names: map[Counter][]string{
			Requests: {"request_success"}, Prompt: {"request_input_length"}, Output: {"request_generated_tokens"},
			TPOTSum: {"request_mean_time_per_token_duration"},
		},
	},
	{
		name: "simulated", prefix: "simulated_",
		names: map[Counter][]string{
			Requests: {"requests_success"}, Prompt: {"prompt_tokens"}, Output: {"generation_tokens"}, Cached: {"cached_tokens"},
			TTFTSum: {"time_to_first_token_seconds"}, TPOTSum: {"time_per_output_token_seconds"},
		},
	},
}

// mostKept bounds the lines that are kept of a server's metrics, in bytes.
const mostKept = 1 << 20

// readCounters reads the Prometheus text format up to so many bytes. Lines that say nothing to us are dropped before they
// are parsed, so that one odd metric does not hide the rest; buckets too, which are most of them.
func readCounters(r io.Reader, most int64) (Counters, error) {
	bounded := &io.LimitedReader{R: r, N: most + 1}
	in := bufio.NewScanner(bounded)
	in.Buffer(make([]byte, 0, 64<<10), 1<<20)
	var e *engine
	var kept bytes.Buffer
	for in.Scan() {
		line := in.Bytes()
		if e == nil {
			e = engineOf(line)
		}
		if e == nil || !e.wants(line) {
			continue
		}
		if kept.Len()+len(line) > mostKept {
			return Counters{}, fmt.Errorf("more than %d MiB of %s's metrics", mostKept>>20, e.name)
		}
		kept.Write(line)
		kept.WriteByte('\n')
	}
	switch {
	case bounded.N <= 0:
		return Counters{}, fmt.Errorf("longer than %d MiB", most>>20)
	case errors.Is(in.Err(), bufio.ErrTooLong):
		return Counters{}, errors.New("a line is longer than 1 MiB")
	case in.Err() != nil:
		return Counters{}, in.Err()
	case e == nil:
		return Counters{}, errNoMetrics
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&kept)
	if err != nil {
		return Counters{}, err
	}
	return e.counters(families), nil
}

// engineOf tells by a line whose metrics they are.
func engineOf(line []byte) *engine {
	for i := range engines {
		if bytes.HasPrefix(line, []byte(engines[i].prefix)) {
			return &engines[i]
		}
	}
	return nil
}

// wants reports whether a line is a value of a counter of ours. The lines of types are not needed: what a family's parts
// are called says what they are.
func (e *engine) wants(line []byte) bool {
	rest, ours := bytes.CutPrefix(line, []byte(e.prefix))
	if !ours {
		return false
	}
	end := bytes.IndexAny(rest, "{ \t")
	if end < 0 {
		return false
	}
	name := string(rest[:end])
	for _, names := range e.names {
		for _, n := range names {
			if part, ok := strings.CutPrefix(name, n); ok && slices.Contains([]string{"", "_total", "_sum", "_count"}, part) {
				return true
			}
		}
	}
	return false
}

func (e *engine) counters(families map[string]*dto.MetricFamily) Counters {
	c := Counters{Engine: e.name, Totals: map[Counter]float64{}, coarse: e.coarse}
	for k, names := range e.names {
		switch k {
		case TTFTSum, TPOTSum:
			sum, ok := total(families, e.prefix+names[0]+"_sum", isTotal)
			n, also := total(families, e.prefix+names[0]+"_count", isCount)
			if ok && also {
				c.Totals[k], c.Totals[countOf(k)] = sum, n
			}
			continue
		}
		if v, ok := e.summed(families, names); ok {
			c.Totals[k] = v
		}
	}
	for _, k := range e.silent {
		if _, prompt := c.Totals[Prompt]; prompt {
			c.Totals[k] += 0
		}
	}
	return c
}

func countOf(k Counter) Counter {
	if k == TTFTSum {
		return TTFTCount
	}
	return TPOTCount
}

// summed adds a counter up over the names of its parts.
func (e *engine) summed(families map[string]*dto.MetricFamily, names []string) (sum float64, ok bool) {
	for i, name := range names {
		v, there := e.counted(families, name)
		if !there && i == 0 {
			return 0, false
		}
		sum += v
	}
	return sum, sum <= mostTotal
}

// counted finds a counter under the names that it may have: TGI keeps lengths as histograms, whose sum is the counter.
func (e *engine) counted(families map[string]*dto.MetricFamily, name string) (float64, bool) {
	for _, suffix := range []string{"_total", "", "_sum"} {
		if v, ok := total(families, e.prefix+name+suffix, isCount); ok {
			return v, true
		}
	}
	return 0, false
}

// mostTotal bounds what is believed of a total. Up to here whole numbers and their differences are exact, and no mean of
// such totals leaves what a number holds.
const mostTotal = 1e15

func isTotal(v float64) bool { return v >= 0 && v <= mostTotal }

func isCount(v float64) bool { return isTotal(v) && v == math.Trunc(v) }

// total sums a metric over its labels. False where there is none, or where one value cannot be.
func total(families map[string]*dto.MetricFamily, name string, can func(float64) bool) (sum float64, ok bool) {
	for _, m := range families[name].GetMetric() {
		v := m.GetUntyped().GetValue()
		if !can(v) {
			return 0, false
		}
		sum, ok = sum+v, true
	}
	return sum, ok && sum <= mostTotal
}

// Since is what was counted between an earlier look and this one. An error says why the two looks tell nothing: a total
// that fell belongs to a server that was started anew, or to another one behind the same address.
func (c Counters) Since(before Counters) (Counters, error) {
	if c.Engine != before.Engine {
		return Counters{}, fmt.Errorf("the metrics were %s's before and are %s's now", before.Engine, c.Engine)
	}
	d := Counters{Engine: c.Engine, Totals: map[Counter]float64{}}
	for _, k := range slices.Sorted(maps.Keys(c.Totals)) {
		was, ok := before.Totals[k]
		if !ok {
			continue
		}
		if c.Totals[k] < was {
			return Counters{}, fmt.Errorf("the server's count of %s fell from %g to %g: it was started anew, or several servers share the address", k, was, c.Totals[k])
		}
		d.Totals[k] = c.Totals[k] - was
		d.doubt = max(d.doubt, c.coarse*(c.Totals[k]+was))
	}
	return d, nil
}
