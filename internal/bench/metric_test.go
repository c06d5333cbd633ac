package bench_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

var update = flag.Bool("update", false, "rewrite the generated files")

func TestMetricsAreFoundByName(t *testing.T) {
	for _, c := range []struct {
		name   string
		unit   bench.Unit
		better string
		scale  bench.Scale
		least  int
	}{
		{"ttft.mean", "s", "lower", "log", 5},
		{"ttft.gmean", "s", "lower", "log", 5},
		{"ttft.p1", "s", "lower", "log", 5},
		{"ttft.p50", "s", "lower", "log", 5},
		{"ttft.p75", "s", "lower", "log", 11},
		{"tpot.p90", "s", "lower", "log", 29},
		{"e2el.p95", "s", "lower", "log", 59},
		{"icl.p99", "s", "lower", "log", 299},
		{"ttft_sched.p99.9", "s", "lower", "log", 2995},
		{"e2el_sched.p99.99", "s", "lower", "log", 29956},
		{"queue.p12.5", "s", "lower", "log", 5},
		{"ttfot.p95", "s", "lower", "log", 59},
		{"request.rate", "req/s", "higher", "log", 5},
		{"output.rate", "tok/s", "higher", "log", 5},
		{"goodput.rate", "req/s", "higher", "log", 5},
		{"goodput.ratio", "ratio", "higher", "logit", 5},
		{"error.ratio", "ratio", "lower", "point", 1},
	} {
		m, err := bench.ParseMetric(c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := fmt.Sprint(m.Name, m.Unit, m.Better, m.HigherBetter(), m.Scale, m.Least)
		want := fmt.Sprint(c.name, c.unit, c.better, c.better == "higher", c.scale, c.least)
		if got != want {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
		if m.Doc == "" {
			t.Errorf("%s: no description", c.name)
		}
	}
}

func TestUnknownMetricsAreRefused(t *testing.T) {
	for _, name := range []string{
		"", ".", "ttft", "ttft.", ".p95", "ttft.p", "ttft.p0", "ttft.p0.5", "ttft.p100", "ttft.p95.", "ttft.p95.0", "ttft.p095",
		"ttft.p+95", "ttft.p-5", "ttft.p9e1", "ttft.p0x5", "ttft.p1_0", "ttft.pNaN", "ttft.pnan", "ttft.pInf", "ttft.pinf",
		"ttft.p99.999", "ttft.P95", "TTFT.p95", " ttft.p95", "ttft.p95 ", "ttft.p95\n", "ttft.p٩٥", "ttft.median", "ttft.max",
		"itl.p50", "output.ratio", "goodput", "goodput.p95", "error.rate", "ttft.p95.mean", "ttft/p95", strings.Repeat("a", 1<<16),
	} {
		if m, err := bench.ParseMetric(name); err == nil {
			t.Errorf("%q is taken for %+v", name, m)
		}
	}
}

func TestEveryListedMetricIsFoundByItsName(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range bench.Metrics() {
		if seen[m.Name] {
			t.Errorf("%s is listed twice", m.Name)
		}
		seen[m.Name] = true
		found, err := bench.ParseMetric(m.Name)
		if err != nil || found.Doc != m.Doc || found.Least != m.Least {
			t.Errorf("%s: listed %+v, found %+v, %v", m.Name, m, found, err)
		}
	}
}

// The smallest n for which n values fall below the quantile in at most 5 % of samples, by counting instead of logarithms.
func TestLeastSuccessesBoundThePercentile(t *testing.T) {
	for _, p := range []float64{50, 75, 90, 95, 99, 99.9} {
		m, err := bench.ParseMetric(fmt.Sprintf("ttft.p%v", p))
		if err != nil {
			t.Fatal(err)
		}
		n, all := 0, 1.0
		for all > 0.05 {
			all *= p / 100
			n++
		}
		if m.Least != max(5, n) {
			t.Errorf("p%v: least %d, want %d", p, m.Least, max(5, n))
		}
	}
}

func TestClassCodesAreFixed(t *testing.T) {
	want := []bench.Class{
		"ok", "refused", "reset", "dns", "tls", "connect_timeout", "first_token_timeout", "idle_timeout", "total_timeout",
		"rate_limited", "overloaded", "http_4xx", "http_5xx", "redirected", "not_streaming", "in_band_error", "truncated",
		"empty", "too_long", "too_short", "malformed", "canceled", "other",
	}
	got := bench.Classes()
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Errorf("codes of stored files changed (-want +got):\n%s", diff)
	}
	for i, c := range got {
		if c.Code() != i {
			t.Errorf("code of %s is %d, want %d", c, c.Code(), i)
		}
	}
	if bench.Class("never heard of").Code() != bench.Other.Code() {
		t.Error("an unknown class is not counted as other")
	}
}

// docs/metrics.md is written from the table: go test ./internal/bench -update.
func TestMetricsDocumentIsCurrent(t *testing.T) {
	golden(t, "../../docs/metrics.md", []byte(metricsDocument()))
}

func metricsDocument() string {
	var b strings.Builder
	b.WriteString(`# Metrics

A metric is named ` + "`what.statistic`" + `. This page is generated from the table in ` + "`internal/bench/metric.go`" + `.

Any percentile from ` + "`p1` to `p99.99`" + ` of a time may be asked for; those below are kept for every run. Percentiles are
interpolated between order statistics as NumPy does by default (type 7). Only successful requests have times. Failed ones
count in ` + "`error.ratio`" + ` and in the denominator of ` + "`goodput.ratio`" + `.

"Least" is the smallest number of successful requests in a run for which the statistic is judged. For a percentile it is
the smallest n whose largest value lies above the percentile with 95 % confidence.

| metric | unit | better | least | what it is |
|---|---|---|---|---|
`)
	for _, m := range bench.Metrics() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d | %s |\n", m.Name, m.Unit, m.Better, m.Least, m.Doc)
	}
	b.WriteString(`
## How a request fails

A request that ends in any other way than ` + "`ok`" + ` is a failure: it stays in every denominator and enters no latency.
The number is the code in rows files.

| code | class |
|---|---|
`)
	for _, c := range bench.Classes() {
		fmt.Fprintf(&b, "| %d | `%s` |\n", c.Code(), c)
	}
	return b.String()
}

// golden compares with a committed file, or rewrites it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; run: go test ./internal/bench -update\n(-file +made):\n%s", path, diff)
	}
}
