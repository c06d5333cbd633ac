package campaign

import (
	"fmt"
	"math"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/server"
)

// How far a server's account and what its client saw may differ before that is told: a part of the whole, and the least
// that matters.
const (
	countsDiffer = 0.01 // of tokens
	cacheDiffers = 0.05 // share of prompt tokens
	chunksDiffer = 0.10 // of the tokens a chunk, and more than one token an answer
	clockDiffers = 0.02 // of a ttft
	clockNoise   = 0.002
)

// accountOf is what the server says of the requests of a run: by what its answers tell, else by its counters, which are nil
// where they are not known. Nil where it says nothing.
//
// The order is so because an answer tells of itself alone, whoever else asks the same server; counters are of all requests
// since the look before, and believed only where these are as many as the run sent.
func accountOf(requests []bench.Request, counted *server.Counters) *bench.ServerAccount {
	r := ledgerOf(requests)
	if len(r.ok) == 0 {
		return nil
	}
	r.chunked()
	r.counted()
	ours := counted != nil && r.requested(*counted)
	if !r.told() && ours {
		r.histograms(*counted)
	}
	if ours && len(r.ok) == r.sent {
		r.totals(*counted)
	}
	r.gap()
	if a := r.account; a.Source == "" && a.Counters == "" && a.ChunkTokens == 0 {
		return nil
	}
	return writable(&r.account)
}

// writable is the account, or in the place of one that no file may hold a doubt that says why: a server's account is no
// reason to lose a run.
func writable(a *bench.ServerAccount) *bench.ServerAccount {
	err := bench.CheckRun(bench.Run{Server: a})
	if err == nil {
		return a
	}
	return &bench.ServerAccount{Doubts: map[string]string{bench.DoubtAccount: fmt.Sprintf("what the server says of itself cannot be, and is left out: %v", err)}}
}

// ledger holds a run's requests against its server's account, which grows in it.
type ledger struct {
	ok                      []bench.Request
	sent                    int
	ttft                    float64 // the client's mean
	in, out, cached, chunks float64
	counts, tellsPrompt     bool // usage told these of every answer
	tellsCached             bool
	account                 bench.ServerAccount
}

func ledgerOf(requests []bench.Request) *ledger {
	r := &ledger{sent: len(requests), counts: true, tellsPrompt: true, tellsCached: true}
	for _, q := range requests {
		if q.Class != bench.OK {
			continue
		}
		r.ok = append(r.ok, q)
		ttft, _ := q.TTFT()
		r.ttft += ttft
		r.in, r.out, r.chunks = r.in+float64(q.InputTokens), r.out+float64(q.OutputTokens), r.chunks+float64(q.Chunks)
		r.counts = r.counts && q.TokenSource == "usage"
		r.tellsPrompt = r.tellsPrompt && q.InputTokens > 0
		if q.CachedTokens == nil {
			r.tellsCached = false
		} else {
			r.cached += float64(*q.CachedTokens)
		}
	}
	r.ttft /= math.Max(1, float64(len(r.ok)))
	return r
}

// doubt says what does not fit. Of one thing the first that is said stands.
func (r *ledger) doubt(what, format string, args ...any) {
	if r.account.Doubts == nil {
		r.account.Doubts = map[string]string{}
	}
	if r.account.Doubts[what] == "" {
		r.account.Doubts[what] = fmt.Sprintf(format, args...)
	}
}

// chunked compares the tokens that usage tells with the chunks that came.
func (r *ledger) chunked() {
	if !r.counts || r.chunks == 0 {
		return
	}
	a := &r.account
	a.ChunkTokens = r.out / r.chunks
	if math.Abs(a.ChunkTokens-1) <= chunksDiffer || math.Abs(r.out-r.chunks) <= float64(len(r.ok)) {
		return
	}
	means := "chunks hold several tokens, or tokens are counted that were not sent: tpot is that of pieces, and icl the time between them"
	if a.ChunkTokens < 1 {
		means = "chunks hold parts of tokens, or usage counts too few: tpot and output.rate go by usage"
	}
	r.doubt(bench.DoubtChunks, "usage tells %.0f output tokens in %.0f chunks, %.2f a chunk: %s", r.out, r.chunks, a.ChunkTokens, means)
}

// requested reports whether the server counted the requests of the run and no others. A server that does not count
// requests is held to its output tokens instead.
func (r *ledger) requested(c server.Counters) bool {
	a := &r.account
	a.Counters = "/metrics (" + c.Engine + ")"
	n, known := c.Of(server.Requests)
	if !known {
		return true
	}
	a.Requests = &n
	switch ok := float64(len(r.ok)); {
	case n > float64(r.sent):
		r.doubt(bench.DoubtRequests, "the server counted %.0f answered requests while this run sent %d: somebody else asks the same server, and what they take is in every figure, or it counts wrong; its counters are not used", n, r.sent)
	case n < ok:
		r.doubt(bench.DoubtRequests, "the server counted %.0f answered requests, and %.0f answers came: its metrics lag, or several servers share the address; its counters are not used", n, ok)
	case n == ok:
		return true
	}
	return false
}

// told fills in the times that every answer told.
func (r *ledger) told() bool {
	first := r.ok[0].Told
	if first == nil {
		return false
	}
	var ttft, tpot float64
	streams := 0
	for _, q := range r.ok {
		t := q.Told
		if t == nil || t.Prefill <= 0 || t.Source != first.Source || (t.Queue == nil) != (first.Queue == nil) {
			return false
		}
		ttft += t.Prefill
		if t.Queue != nil {
			ttft += *t.Queue
		}
		if t.Decode > 0 && q.OutputTokens > 1 {
			tpot += t.Decode / float64(q.OutputTokens-1)
			streams++
		}
	}
	a := &r.account
	a.Source, a.TTFT, a.TTFTFrom = first.Source, ttft/float64(len(r.ok)), bench.FromWork
	if first.Queue != nil {
		a.TTFTFrom = bench.FromArrival
	}
	if streams > 0 {
		a.TPOT = tpot / float64(streams)
	}
	return true
}

// counted compares the tokens that usage tells with those that the same answers' own accounts do, where all tell them.
func (r *ledger) counted() {
	var in, out float64
	tellIn, tellOut := r.tellsPrompt && r.tellsCached, r.counts
	for _, q := range r.ok {
		t := q.Told
		if t == nil {
			return
		}
		in, out = in+float64(t.PromptTokens), out+float64(t.OutputTokens)
		tellIn, tellOut = tellIn && t.PromptTokens > 0, tellOut && t.OutputTokens > 0
	}
	source := r.ok[0].Told.Source
	if tellOut && differ(out, r.out, 0) {
		r.doubt(bench.DoubtOutput, "usage tells %.0f output tokens, and %s in the same answers %.0f: tpot and output.rate go by usage", r.out, source, out)
	}
	if in += r.cached; tellIn && differ(in, r.in, 0) {
		r.doubt(bench.DoubtPrompt, "usage tells %.0f prompt tokens, and %s in the same answers %.0f with the cached ones: one of the two is wrong", r.in, source, in)
	}
}

// histograms fills in the times that the server added up over the run.
func (r *ledger) histograms(c server.Counters) {
	a := &r.account
	if sum, n, ok := mean(c, server.TTFTSum, server.TTFTCount); ok && n == float64(len(r.ok)) && sum > 0 {
		a.TTFT, a.TTFTFrom, a.Source = sum/n, bench.FromArrival, a.Counters
	}
	if sum, n, ok := mean(c, server.TPOTSum, server.TPOTCount); ok && n > 0 && sum > 0 {
		a.TPOT, a.Source = sum/n, a.Counters
	}
}

func mean(c server.Counters, sum, count server.Counter) (s, n float64, ok bool) {
	s, known := c.Of(sum)
	n, also := c.Of(count)
	return s, n, known && also
}

// gap compares the client's mean ttft with the server's.
func (r *ledger) gap() {
	a := &r.account
	if a.TTFT <= 0 {
		return
	}
	gap := r.ttft - a.TTFT
	a.Gap = &gap
	if -gap > math.Max(clockNoise, clockDiffers*a.TTFT) {
		r.doubt(bench.DoubtTTFT, "the server says that its first tokens took %s (%s), and the client had them after %s: they are other requests, or one of the clocks lies", brief(a.TTFT), a.Source, brief(r.ttft))
	}
}

// totals compares what the server counted with what usage told. All requests of the run succeeded.
func (r *ledger) totals(c server.Counters) {
	a := &r.account
	out, known := c.Of(server.Output)
	_, ours := c.Of(server.Requests)
	if known {
		if !ours && r.counts && differ(out, r.out, c.Doubt()) {
			r.doubt(bench.DoubtOutput, "usage tells %.0f output tokens, and the server counted %.0f: somebody else asks the same server, or one of the two is wrong", r.out, out)
			return
		}
		ours = ours || r.counts
		a.OutputTokens = &out
		if r.counts && differ(out, r.out, c.Doubt()) {
			r.doubt(bench.DoubtOutput, "usage tells %.0f output tokens, and the server counted %.0f: tpot and output.rate go by usage", r.out, out)
		}
	}
	prompt, known := promptOf(c)
	if !known {
		return
	}
	a.PromptTokens = &prompt
	if r.tellsPrompt && differ(prompt, r.in, c.Doubt()) {
		r.doubt(bench.DoubtPrompt, "usage tells %.0f prompt tokens, and the server counted %.0f: something between rewrites prompts, or one of the two is wrong", r.in, prompt)
	}
	share, known := cachedOf(c, prompt)
	if !known || !ours {
		return // somebody else's hits would make a run invalid
	}
	a.CachedTokens = &share
	if told := r.cached / math.Max(1, r.in); r.tellsCached && r.tellsPrompt && math.Abs(share-told) > cacheDiffers+c.Doubt()/math.Max(1, prompt) {
		r.doubt(bench.DoubtCached, "usage tells that %s of the prompt tokens came from a cache, and the server's counters %s", portion(told), portion(share))
	}
}

// differ reports whether two counts differ beyond what few digits and small change explain.
func differ(a, b, doubt float64) bool {
	return math.Abs(a-b) > doubt+countsDiffer*math.Max(a, b)
}

// promptOf is the number of prompt tokens, cached ones included.
func promptOf(c server.Counters) (float64, bool) {
	if n, known := c.Of(server.Prompt); known {
		return n, true
	}
	fresh, known := c.Of(server.Fresh)
	cached, also := c.Of(server.Cached)
	return fresh + cached, known && also
}

// cachedOf is the share of prompt tokens that came from a cache. Where the server counts what its cache was asked for, the
// share is of that: a prompt that waits for memory asks again, and is found again.
func cachedOf(c server.Counters, prompt float64) (float64, bool) {
	cached, known := c.Of(server.Cached)
	if asked, also := c.Of(server.Asked); also && asked > 0 {
		prompt = asked
	}
	if !known || prompt <= 0 {
		return 0, false
	}
	return math.Min(1, cached/prompt), true
}
