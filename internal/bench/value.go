package bench

import "errors"

var errNoStatistic = errors.New("no statistic of one number a request")

// Value is the quantity of one request that a time metric is a statistic of. False for a request that has none, and for
// every request where the metric is no statistic of one number a request: rates, ratios, and gaps between chunks.
func (m Metric) Value(q Request) (float64, bool) {
	if m.value == nil {
		return 0, false
	}
	return m.value(q)
}

// Statistic is the metric's statistic of such values: the mean or the percentile that its name says. It is an error for a
// metric that is no statistic of one number a request, and for no values.
func (m Metric) Statistic(values []float64) (float64, error) {
	if m.value == nil || m.stat == nil {
		return 0, errNoStatistic
	}
	return m.stat(values)
}
