package sim

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
)

// counters are totals since the start.
type counters struct{ ok, failed, prompt, generated, cached atomic.Int64 }

// metrics answers in the Prometheus text format. The numbers are those of the records.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	c := &s.counts
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"requests_running", "gauge", "Requests that hold a slot.", int64(s.slots.busy())},
		{"requests_waiting", "gauge", "Requests that wait for a slot.", int64(s.slots.waiting())},
		{"slots", "gauge", "Slots of this server.", int64(s.options.Slots)},
		{"requests_success_total", "counter", "Generations that came to their end.", c.ok.Load()},
		{"requests_failure_total", "counter", "Generations that were refused or broke off.", c.failed.Load()},
		{"prompt_tokens_total", "counter", "Prompt tokens of accepted requests, cached ones included.", c.prompt.Load()},
		{"cached_tokens_total", "counter", "Prompt tokens that came from the cache.", c.cached.Load()},
		{"generation_tokens_total", "counter", "Tokens generated.", c.generated.Load()},
	} {
		if m.kind == "counter" && s.fault.countsTwice {
			m.value *= 2
		}
		s.family(w, m.name, m.kind, m.help)
		fmt.Fprintf(w, "simulated_%s{model_name=%q} %d\n", m.name, s.options.Model, m.value)
	}
	ttft, tpot := s.records.histograms()
	s.histogram(w, "time_to_first_token_seconds", "From the arrival of a request to the write of its first token.", ttft)
	s.histogram(w, "time_per_output_token_seconds", "Of each generation that came to its end: the mean time of its tokens after the first.", tpot)
}

// family writes what comes before the values of a metric.
func (s *Server) family(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP simulated_%[1]s %[2]s\n# TYPE simulated_%[1]s %[3]s\n", name, help, kind)
}

func (s *Server) histogram(w io.Writer, name, help string, h histogram) {
	times := 1.0
	if s.fault.countsTwice {
		times = 2
	}
	s.family(w, name, "histogram", help)
	value := func(suffix, label string, v float64) {
		fmt.Fprintf(w, "simulated_%s_%s{model_name=%q%s} %s\n", name, suffix, s.options.Model, label, strconv.FormatFloat(times*v, 'g', -1, 64))
	}
	below := 0
	for i, bound := range bounds {
		below += h.in[i]
		value("bucket", fmt.Sprintf(`,le="%g"`, bound), float64(below))
	}
	value("bucket", `,le="+Inf"`, float64(h.count))
	value("sum", "", h.sum)
	value("count", "", float64(h.count))
}

// bounds are the upper ends of the buckets, in seconds.
var bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}

// histogram counts times, in seconds.
type histogram struct {
	in    [len(bounds)]int // each bucket alone; what lies above the last bound is in count only
	sum   float64
	count int
}

func (h *histogram) add(seconds float64) {
	h.count++
	h.sum += seconds
	for i, bound := range bounds {
		if seconds <= bound {
			h.in[i]++
			return
		}
	}
}
