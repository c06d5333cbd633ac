package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// VLLMDefinitions is the value of [bench.KeyDefinitions] where numbers follow the definitions of vllm bench serve 0.33.
const VLLMDefinitions = "vllm-0.33/1"

// Compat tells a campaign by the definitions of vllm bench serve 0.33 instead of our own: the statistics of each run are
// computed anew from its requests as that client would have read them. What it would not know stays: the client's account
// of itself, why a run is void or invalid. A statistic that cannot be told from the record is left out, with a warning.
func Compat(log bench.CampaignLog) (bench.CampaignLog, error) {
	log.Runs = slices.Clone(log.Runs)
	for i, r := range log.Runs {
		requests := log.RequestsOf(r.Order)
		if len(requests) != r.Sent {
			return log, fmt.Errorf("run %d sent %d requests, and the file holds %d of them", r.Order, r.Sent, len(requests))
		}
		told := condense(asVLLM(requests), r.Duration, log.Header.SLOs[r.Scenario], slices.Sorted(maps.Keys(r.Metrics))...)
		told.Order, told.Started, told.Void, told.Invalid, told.Client = r.Order, r.Started, r.Void, r.Invalid, r.Client
		told.Warnings = slices.Concat(r.Warnings, told.Warnings, doubts(requests))
		log.Runs[i].Run = told
	}
	log.Header.MustMatch = redefined(log.Header.MustMatch)
	log.Visits = slices.Clone(log.Visits)
	for i, v := range log.Visits {
		log.Visits[i].MustMatch = redefined(v.MustMatch)
	}
	return log, nil
}

// doubts name what the record cannot tell of what vllm bench serve would have made of these streams.
func doubts(requests []bench.Request) (all []string) {
	framed, left := 0, 0
	for _, q := range requests {
		if q.VLLM != nil && q.VLLM.Framing {
			framed++
		}
		if leftEarly(q) {
			left++
		}
	}
	if framed > 0 {
		all = append(all, fmt.Sprintf("%d of %d streams are framed so that what vllm bench serve makes of them hangs on how their bytes fell into reads: it may have lost events that count here", framed, len(requests)))
	}
	if left > 0 {
		all = append(all, fmt.Sprintf("%d of %d answers were left by benchgate before their end, where vllm bench serve would have read on", left, len(requests)))
	}
	return all
}

// leftEarly reports whether benchgate gave up on a stream that may have gone on.
func leftEarly(q bench.Request) bool {
	switch q.Class {
	case bench.ConnTimeout, bench.FirstTimeout, bench.IdleTimeout, bench.TooSlow, bench.Canceled:
		return true
	case bench.TooLong:
		return q.VLLM != nil && q.VLLM.Broken != ""
	}
	return false
}

func redefined(facts map[string]string) map[string]string {
	if facts == nil {
		return nil
	}
	facts = maps.Clone(facts)
	facts[bench.KeyDefinitions] = VLLMDefinitions
	return facts
}

// asVLLM are requests as vllm bench serve reads them. See vllmRequest.
func asVLLM(requests []bench.Request) []bench.Request {
	var told []bench.Request
	for _, q := range requests {
		told = append(told, vllmRequest(q))
	}
	return told
}

// vllmRequest is one request as vllm bench serve reads it: a stream that ended cleanly has succeeded when it held a chunk
// of output, whatever it said beside. A failed one keeps the times of the chunks before its failure, and no last. Tokens
// that only the text tells are 0.
func vllmRequest(q bench.Request) bench.Request {
	told := q
	told.VLLM, told.FirstAnswer = nil, 0
	told.InputTokens, told.OutputTokens, told.TokenSource = vllmTokens(q)
	broken := ""
	if q.VLLM != nil {
		broken = q.VLLM.Broken
		told.FirstToken, told.LastToken, told.Gaps = spaced(vllmChunks(q))
		told.Chunks = len(told.Gaps)
		if told.FirstToken > 0 {
			told.Chunks++
		}
	}
	switch {
	case !q.Class.Ended():
	case broken != "":
		told.Class, told.Error = failedAs(q.Class, bench.Other), broken
	case told.FirstToken == 0:
		told.Class, told.Error = failedAs(q.Class, bench.Empty), "no chunk that vllm bench serve takes for output"
	default:
		told.Class, told.Error = bench.OK, ""
	}
	if told.Class != bench.OK {
		told.LastToken = 0
	}
	return told
}

// spaced tells arrivals as the first, the last and the gaps between; zeros of none.
func spaced(at []float64) (first, last float64, gaps []float64) {
	if len(at) == 0 {
		return 0, 0, nil
	}
	for i := range at[1:] {
		gaps = append(gaps, at[i+1]-at[i])
	}
	return at[0], at[len(at)-1], gaps
}

// failedAs is the class of a failure, which it keeps when it has one.
func failedAs(class, otherwise bench.Class) bench.Class {
	if class == bench.OK {
		return otherwise
	}
	return class
}

// vllmChunks are the arrivals of the chunks that vllm bench serve takes for output, of a request with a VLLM.
func vllmChunks(q bench.Request) []float64 {
	all := arrivals(q)
	known := all
	if len(q.VLLM.Stretches) > 0 {
		known = nil
		for i, n := range q.VLLM.Stretches {
			n = min(n, len(all))
			if i%2 == 0 {
				known = append(known, all[:n]...)
			}
			all = all[n:]
		}
	}
	known = append(known, q.VLLM.Blank...)
	slices.Sort(known)
	return known
}

// arrivals are those of all chunks with tokens.
func arrivals(q bench.Request) []float64 {
	if q.FirstToken <= 0 {
		return nil
	}
	at := q.FirstToken
	all := []float64{at}
	for _, gap := range q.Gaps {
		at += gap
		all = append(all, at)
	}
	return all
}

// vllmTokens are the server's counts that vllm bench serve reads, 0 where it reads none. Their source is "usage" or empty.
func vllmTokens(q bench.Request) (in, out int, source string) {
	in, out = q.InputTokens, q.OutputTokens
	if q.TokenSource == "chunks" {
		out = 0
	}
	if v := q.VLLM; v != nil && v.InputTokens != nil {
		in = *v.InputTokens
	}
	if v := q.VLLM; v != nil && v.OutputTokens != nil {
		out = *v.OutputTokens
	}
	if out > 0 {
		source = "usage"
	}
	return in, out, source
}

// condense is [bench.Condense] of requests as vllm bench serve reads them, without what hangs on tokens that only the text
// tells.
func condense(told []bench.Request, duration float64, slo bench.SLO, more ...string) bench.Run {
	run := bench.Condense(told, duration, slo, more...)
	missing, unread := 0, 0
	for _, q := range told {
		if q.Class == bench.OK && q.OutputTokens == 0 {
			missing++
		}
		if q.Class == bench.OK && q.InputTokens == 0 {
			unread++
		}
	}
	if unread > 0 {
		run.InputTokens = 0
	}
	if missing == 0 {
		return run
	}
	uncounted(&run)
	if slo.TPOT != nil {
		run.Good = nil
		maps.DeleteFunc(run.Metrics, func(name string, _ float64) bool { return strings.HasPrefix(name, "goodput.") })
	}
	run.Warnings = append(run.Warnings, fmt.Sprintf("%d of %d answers hold no count of tokens that vllm bench serve reads; it would tokenise their text, and without its tokenizer tpot and output.rate cannot be told", missing, run.OK))
	return run
}

// uncounted takes away what hangs on numbers of output tokens.
func uncounted(run *bench.Run) {
	run.OutputTokens = 0
	maps.DeleteFunc(run.Metrics, func(name string, _ float64) bool {
		return strings.HasPrefix(name, "tpot.") || name == "output.rate"
	})
}
