package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/stat"
)

// Unit is the base unit of a metric: prefixes and percent signs exist only in reports.
type Unit string

// The units.
const (
	Seconds         Unit = "s"
	RequestsPerSec  Unit = "req/s"
	TokensPerSec    Unit = "tok/s"
	Ratio           Unit = "ratio"
	lowerIsBetter        = "lower"
	higherIsBetter       = "higher"
	leastForAverage      = 5
)

// Scale says on which scale runs of a metric are compared.
type Scale string

// The scales: times and rates on the logarithm, goodput on the logit; error.ratio is not compared but held to a limit.
const (
	Log   Scale = "log"
	Logit Scale = "logit"
	Point Scale = "point"
)

// Metric is one entry of the table of metrics.
type Metric struct {
	Name   string // what.statistic, as in a rule
	Unit   Unit
	Better string // "lower" or "higher"
	Scale  Scale
	// Least is the smallest number of successful requests in a run for which the statistic means what its name says:
	// for a percentile the smallest n whose largest value lies above it with 95 % confidence (1 − pⁿ ≥ 0.95).
	Least int
	Doc   string // one sentence: what it is
	value func(Request) (float64, bool)
	stat  func([]float64) (float64, error)
}

// HigherBetter reports whether a larger value is an improvement.
func (m Metric) HigherBetter() bool { return m.Better == higherIsBetter }

// times is the table of quantities that a single request has.
var times = []struct {
	name, doc string
	value     func(Request) (float64, bool)
}{
	{"ttft", "time from sending a request to its first generated token, reasoning and tool calls included", Request.TTFT},
	{"ttfot", "time from sending a request to the first token of its answer, after any reasoning", Request.TTFOT},
	{"tpot", "time per output token after the first: (e2el − ttft)/(n − 1) of one request", Request.TPOT},
	{"icl", "gap between two stream chunks, pooled over the run (vLLM calls it ITL)", nil},
	{"e2el", "time from sending a request to its last token", Request.E2EL},
	{"queue", "time a request waited in the client for a free slot", Request.Queue},
	{"ttft_sched", "time from the scheduled moment to the first generated token", Request.SchedTTFT},
	{"e2el_sched", "time from the scheduled moment to the last token", Request.SchedE2EL},
}

// standardStatistics are computed for every time of every run.
var standardStatistics = []string{"mean", "gmean", "p50", "p75", "p90", "p95", "p99"}

// rates is the table of metrics that belong to a run as a whole.
var rates = []Metric{
	{Name: "request.rate", Unit: RequestsPerSec, Better: higherIsBetter, Scale: Log, Least: leastForAverage, Doc: "successful requests per second of the run"},
	{Name: "output.rate", Unit: TokensPerSec, Better: higherIsBetter, Scale: Log, Least: leastForAverage, Doc: "output tokens of successful requests per second of the run"},
	{Name: "goodput.ratio", Unit: Ratio, Better: higherIsBetter, Scale: Logit, Least: leastForAverage, Doc: "share of all requests that met the whole SLO; failed requests never do"},
	{Name: "goodput.rate", Unit: RequestsPerSec, Better: higherIsBetter, Scale: Log, Least: leastForAverage, Doc: "requests per second that met the whole SLO"},
	{Name: "error.ratio", Unit: Ratio, Better: lowerIsBetter, Scale: Point, Least: 1, Doc: "share of all requests that failed"},
}

// ParseMetric finds a metric by its name. Any percentile from p1 to p99.99 of a time is a metric.
func ParseMetric(name string) (Metric, error) {
	for _, m := range rates {
		if m.Name == name {
			return m, nil
		}
	}
	what, statistic, ok := strings.Cut(name, ".")
	if !ok {
		return Metric{}, unknownMetric(name)
	}
	for _, t := range times {
		if t.name != what {
			continue
		}
		f, least, err := statistics(statistic)
		if err != nil {
			return Metric{}, fmt.Errorf("metric %q: %w", name, err)
		}
		return Metric{
			Name: name, Unit: Seconds, Better: lowerIsBetter, Scale: Log, Least: least,
			Doc: statisticName(statistic) + " of the " + t.doc, value: t.value, stat: f,
		}, nil
	}
	return Metric{}, unknownMetric(name)
}

// Metrics lists every metric that a digest holds for each run.
func Metrics() []Metric {
	var all []Metric
	for _, t := range times {
		for _, s := range standardStatistics {
			m, err := ParseMetric(t.name + "." + s)
			if err != nil {
				panic(err) // the table above is wrong
			}
			all = append(all, m)
		}
	}
	return append(all, rates...)
}

func unknownMetric(name string) error {
	var whats []string
	for _, t := range times {
		whats = append(whats, t.name)
	}
	return fmt.Errorf("unknown metric %q; a metric is what.statistic, what one of %s, statistic one of mean, gmean, p50, p90, p95, p99; or one of request.rate, output.rate, goodput.ratio, goodput.rate, error.ratio",
		name, strings.Join(whats, ", "))
}

func statistics(name string) (f func([]float64) (float64, error), least int, err error) {
	switch name {
	case "mean":
		return stat.Mean, leastForAverage, nil
	case "gmean":
		return stat.GeoMean, leastForAverage, nil
	}
	p, ok := percentile(name)
	if !ok {
		return nil, 0, fmt.Errorf("unknown statistic %q: want mean, gmean, or a percentile such as p95", name)
	}
	return func(xs []float64) (float64, error) { return stat.Quantile(xs, p) }, leastFor(p), nil
}

func percentile(name string) (p float64, ok bool) {
	digits, ok := strings.CutPrefix(name, "p")
	if !ok || len(digits) > 5 || strings.ContainsAny(digits, "+-eExX_") {
		return 0, false
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v >= 1 && v <= 99.99) || strconv.FormatFloat(v, 'f', -1, 64) != digits {
		return 0, false
	}
	return v / 100, true
}

// leastFor is the smallest n with 1 − pⁿ ≥ 0.95: fewer values cannot bound the percentile from above (order statistics;
// Hahn & Meeker 1991, §5.2).
func leastFor(p float64) int {
	return max(leastForAverage, int(math.Ceil(math.Log(0.05)/math.Log(p)-1e-9)))
}

func statisticName(s string) string {
	switch s {
	case "mean":
		return "mean"
	case "gmean":
		return "geometric mean"
	}
	return "percentile " + strings.TrimPrefix(s, "p")
}
