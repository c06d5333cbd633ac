package bench

import "strings"

// Condense computes the statistics of one pass from its requests: Sent, OK, Failed, Metrics, Good and the token means.
// The duration is in seconds and must be positive for rates to exist; more names metrics beyond the standard ones.
// A statistic without a single value behind it is absent. All else in the Run is left to the caller.
func Condense(requests []Request, duration float64, slo SLO, more ...string) Run {
	run := Run{Duration: duration, Sent: len(requests), Metrics: map[string]float64{}}
	good := 0
	for _, r := range requests {
		run.count(r)
		if slo.Met(r) {
			good++
		}
	}
	if !slo.IsZero() {
		run.Good = &good
	}
	run.tokens(requests)
	run.streams(requests)
	run.times(requests, more)
	run.rates()
	return run
}

func (r *Run) count(q Request) {
	if q.Class == OK {
		r.OK++
	} else {
		if r.Failed == nil {
			r.Failed = map[Class]int{}
		}
		r.Failed[q.Class]++
		r.said(q)
	}
	r.Client.Reconnects += q.Reconnects
}

// said keeps what the first failure of each class said. What we stopped ourselves says nothing of the server: the first
// failure of another class takes its place.
func (r *Run) said(q Request) {
	instead := len(r.Failed) == 2 && r.Failed[Canceled] > 0 && r.Failed[q.Class] == 1 && q.Class != Canceled
	switch {
	case q.Class == Canceled && r.FirstError != "":
	case r.FirstError == "" || instead && q.Error != "":
		r.FirstError = q.Error
	case r.Failed[q.Class] == 1 && q.Error != "":
		if r.FirstErrors == nil {
			r.FirstErrors = map[Class]string{}
		}
		r.FirstErrors[q.Class] = q.Error
	}
}

func (r *Run) tokens(requests []Request) {
	var in, out, cached int
	known := false
	for _, q := range requests {
		if q.Class != OK {
			continue
		}
		in += q.InputTokens
		out += q.OutputTokens
		if q.CachedTokens != nil && q.InputTokens > 0 { // of a prompt that nobody counted there is no share
			known = true
			cached += *q.CachedTokens
		}
	}
	if r.OK == 0 {
		return
	}
	r.InputTokens = float64(in) / float64(r.OK)
	r.OutputTokens = float64(out) / float64(r.OK)
	if known && in > 0 {
		share := float64(cached) / float64(in)
		r.CachedTokens = &share
	}
}

// streams says how answers came: in how many chunks, and how many of them all at once.
func (r *Run) streams(requests []Request) {
	chunks, streams, told, together := 0, 0, 0, 0
	for _, q := range requests {
		if q.Class == OK && q.Chunks > 0 {
			chunks += q.Chunks
			streams++
		}
		at, known := q.AtOnce()
		if known {
			told++
		}
		if at {
			together++
		}
	}
	if streams > 0 {
		r.Chunks = float64(chunks) / float64(streams)
	}
	if told > 0 {
		share := float64(together) / float64(told)
		r.Buffered = &share
	}
}

func (r *Run) times(requests []Request, more []string) {
	for _, t := range times {
		values := sample(requests, t.value)
		if len(values) == 0 {
			continue
		}
		for _, s := range standardStatistics {
			r.set(t.name+"."+s, values)
		}
		for _, name := range more {
			if strings.HasPrefix(name, t.name+".") {
				r.set(name, values)
			}
		}
	}
}

func (r *Run) set(name string, values []float64) {
	m, err := ParseMetric(name)
	if err != nil || m.stat == nil {
		return
	}
	if v, err := m.stat(values); err == nil {
		r.Metrics[name] = v
	}
}

// sample collects one value a request, or every chunk gap when there is no such function.
func sample(requests []Request, value func(Request) (float64, bool)) []float64 {
	var values []float64
	for _, q := range requests {
		if q.Class != OK {
			continue
		}
		if value == nil {
			values = append(values, q.Gaps...)
		} else if v, ok := value(q); ok {
			values = append(values, v)
		}
	}
	return values
}

func (r *Run) rates() {
	if r.Sent == 0 {
		return
	}
	r.Metrics["error.ratio"] = float64(r.Sent-r.OK) / float64(r.Sent)
	if r.Good != nil {
		r.Metrics["goodput.ratio"] = float64(*r.Good) / float64(r.Sent)
	}
	if r.Duration <= 0 || r.OK == 0 {
		return
	}
	r.Metrics["request.rate"] = float64(r.OK) / r.Duration
	r.Metrics["output.rate"] = r.OutputTokens * float64(r.OK) / r.Duration
	if r.Good != nil && *r.Good > 0 {
		r.Metrics["goodput.rate"] = float64(*r.Good) / r.Duration
	}
}
