package gate

import (
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

func metric(t *testing.T, name string) bench.Metric {
	t.Helper()
	m, err := bench.ParseMetric(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOnlyMeaningfulDigitsAreSaid(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{estimated(0.31415, 0.18), "31 %"},
		{estimated(0.0314, 0.009), "3.1 %"},
		{estimated(0.0314, 0.0004), "3.14 %"},
		{estimated(-0.0001, 0.02), "0 %"},
		{estimated(-0.31, 0.02), "-31 %"},
		{estimated(0.5, 0), "50.0 %"},
		{percent(0.05), "5 %"},
		{percent(0.975), "97.5 %"},
		{percent(0.1 + 0.2), "30 %"},
		{amount(0.4094, 0.01, bench.Seconds), "409 ms"},
		{amount(1.2281, 0.03, bench.Seconds), "1.23 s"},
		{amount(977.4, 25, bench.TokensPerSec), "977 tok/s"},
		{given(0.5, bench.Seconds), "500 ms"},
		{given(2, bench.Seconds), "2 s"},
		{given(0.95, bench.Ratio), "95 %"},
		{count(1, "run"), "1 run"},
		{count(0, "run"), "0 runs"},
		{quote("a\x1b[31m\nb"), `"a\x1b[31m\nb"`},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
}

func TestChangesAreSaidTheWayTheMetricGoes(t *testing.T) {
	change := func(low, worse, high float64) *Change { return &Change{WorseLow: low, Worse: worse, WorseHigh: high} }
	for _, test := range []struct {
		metric    string
		change    *Change
		span, top string
	}{
		{"ttft.p95", change(-0.08, 0.1, 0.34), "from 8 % faster to 34 % slower", "at most 34 % slower"},
		{"ttft.p95", change(0.09, 0.19, 0.31), "from 9 % to 31 % slower", "at most 31 % slower"},
		{"ttft.p95", change(-0.37, -0.31, -0.24), "from 24 % to 37 % faster", "at least 24 % faster"},
		{"ttft.p95", change(-0.004, 0.001, 0.1301), "from 0 % to 13 % slower", "at most 14 % slower"},
		{"ttft.p95", change(-0.1, -0.05, 0), "from 10 % faster to 0 % slower", "at most 0 % slower"},
		{"output.rate", change(-0.1, 0, 0.1), "from 10 % better to 10 % worse", "at most 10 % worse"},
		{"goodput.ratio", change(-0.01, 0.012, 0.021), "from 1 points higher to 2 points lower", "at most 3 points lower"},
	} {
		s := speak(metric(t, test.metric))
		if got := s.span(test.change); got != test.span {
			t.Errorf("%+v: %s, want %s", *test.change, got, test.span)
		}
		if got := s.most(test.change); got != test.top {
			t.Errorf("%+v: %s, want %s", *test.change, got, test.top)
		}
	}
}
