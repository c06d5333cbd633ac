package bench

// Class says how a request ended. Anything but OK is a failure: it stays in every denominator and in no latency.
type Class string

// The classes. Their order is the code that stands in rows files: append, never reorder.
const (
	OK           Class = "ok"
	Refused      Class = "refused" // connection refused
	Reset        Class = "reset"   // connection broken after it stood
	DNS          Class = "dns"     // name not found
	TLS          Class = "tls"     // handshake or certificate
	ConnTimeout  Class = "connect_timeout"
	FirstTimeout Class = "first_token_timeout" // no token within the limit
	IdleTimeout  Class = "idle_timeout"        // stream fell silent
	TooSlow      Class = "total_timeout"       // request as a whole took too long
	RateLimited  Class = "rate_limited"        // 429
	Overloaded   Class = "overloaded"          // 503
	HTTP4xx      Class = "http_4xx"
	HTTP5xx      Class = "http_5xx"
	Redirected   Class = "redirected"    // 3xx: never followed
	NotStreaming Class = "not_streaming" // one JSON body instead of a stream
	InBand       Class = "in_band_error" // error object inside a 200 stream
	Truncated    Class = "truncated"     // stream ended without a finish reason
	Empty        Class = "empty"         // finished without one token
	TooLong      Class = "too_long"      // more tokens than asked
	TooShort     Class = "too_short"     // fewer than asked although the server can be made to write exactly so many
	Malformed    Class = "malformed"     // not SSE, not JSON, or beyond every limit
	Canceled     Class = "canceled"      // we stopped it: interrupt or abort rule
	Other        Class = "other"
)

// Ended reports whether a request of this class may have read a stream to its end: what it came to is a matter of
// definitions. Of all others the connection, the server or a limit made an end.
func (c Class) Ended() bool {
	switch c {
	case OK, InBand, Truncated, Empty, TooLong, TooShort:
		return true
	}
	return false
}

var classes = []Class{
	OK, Refused, Reset, DNS, TLS, ConnTimeout, FirstTimeout, IdleTimeout, TooSlow, RateLimited, Overloaded, HTTP4xx, HTTP5xx,
	Redirected, NotStreaming, InBand, Truncated, Empty, TooLong, TooShort, Malformed, Canceled, Other,
}

// Classes lists every class in the order of its code.
func Classes() []Class { return append([]Class(nil), classes...) }

// Code is the integer that stands for the class in a rows file. An unknown class has the code of Other.
func (c Class) Code() int {
	for i, k := range classes {
		if k == c {
			return i
		}
	}
	return len(classes) - 1
}

// Request is one request and its answer. Times are seconds since the start of its run, on a monotonic clock; 0 means
// that the moment never came (a schedule begins after 0 only in name: Scheduled and Sent may be 0, later moments not).
type Request struct {
	Index     int     `json:"i"`
	Scheduled float64 `json:"scheduled"` // when the schedule wanted it sent; in a closed loop, when a slot fell free
	Sent      float64 `json:"sent"`      // when it was handed to the connection; a reconnect does not move it
	Headers   float64 `json:"headers,omitempty"`
	// FirstToken is the arrival of the first generated token, reasoning and tool calls included; FirstAnswer that of the
	// first token of the answer itself; LastToken that of the last of any kind.
	FirstToken  float64 `json:"first_token,omitempty"`
	FirstAnswer float64 `json:"first_answer,omitempty"`
	LastToken   float64 `json:"last_token,omitempty"`
	End         float64 `json:"end"`
	// Gaps are the times between token-bearing chunks, one fewer than Chunks.
	Gaps   []float64 `json:"gaps,omitempty"`
	Chunks int       `json:"chunks,omitempty"`
	// Coalesced counts the chunks that arrived in the same read as the one before.
	Coalesced int `json:"coalesced,omitempty"`
	// InputTokens and OutputTokens are the server's own count (usage); without usage OutputTokens is the number of chunks.
	InputTokens  int    `json:"input_tokens,omitempty"`
	OutputTokens int    `json:"output_tokens,omitempty"`
	TokenSource  string `json:"token_source,omitempty"` // "usage" or "chunks"
	// CachedTokens is usage.prompt_tokens_details.cached_tokens, else cache_n of llama-server's timings; nil when the server
	// does not say.
	CachedTokens *int `json:"cached_tokens,omitempty"`
	// Told is the server's own account of this request; nil where the answer holds none.
	Told   *Told  `json:"told,omitempty"`
	Finish string `json:"finish,omitempty"`
	Class  Class  `json:"class"`
	// Status is the HTTP status, 0 when none came. Error is the failure's message, redacted and shortened.
	Status     int    `json:"status,omitempty"`
	Error      string `json:"error,omitempty"`
	Reconnects int    `json:"reconnects,omitempty"`
	// VLLM is what vllm bench serve reads off the same stream; nil where it is what stands here.
	VLLM *VLLM `json:"vllm,omitempty"`
	// Text is the answer; kept only on request.
	Text string `json:"text,omitempty"`
}

// TTFT is the time from sending to the first generated token, in seconds. False for a failed request.
func (r Request) TTFT() (float64, bool) { return r.since(r.Sent, r.FirstToken) }

// TTFOT is the time from sending to the first token of the answer, in seconds.
func (r Request) TTFOT() (float64, bool) { return r.since(r.Sent, r.FirstAnswer) }

// E2EL is the time from sending to the last token, in seconds. A usage chunk after it does not count.
func (r Request) E2EL() (float64, bool) { return r.since(r.Sent, r.LastToken) }

// SchedTTFT is the time from the scheduled moment to the first generated token, in seconds: free of coordinated omission.
func (r Request) SchedTTFT() (float64, bool) { return r.since(r.Scheduled, r.FirstToken) }

// SchedE2EL is the time from the scheduled moment to the last token, in seconds.
func (r Request) SchedE2EL() (float64, bool) { return r.since(r.Scheduled, r.LastToken) }

// Queue is the time a request waited in the client, in seconds.
func (r Request) Queue() (float64, bool) { return max(0, r.Sent-r.Scheduled), r.Class == OK }

// TPOT is (e2el − ttft)/(n − 1) in seconds per token, for an answer of n > 1 tokens. An answer whose tokens all have the
// same moment, since they came in one chunk or in one read, has none: nobody knows how long a token took.
//
// Where chunks hold several tokens the first of them holds some too, whose time is in ttft: TPOT is then smaller than the
// time a token took, by the factor (n − k)/(n − 1) for k tokens in the first chunk. It stays as the whole trade defines it;
// a comparison of streams that are cut differently is warned of by the gate.
func (r Request) TPOT() (float64, bool) {
	if r.Class != OK || r.OutputTokens < 2 || r.FirstToken <= 0 || r.LastToken <= r.FirstToken {
		return 0, false
	}
	return (r.LastToken - r.FirstToken) / float64(r.OutputTokens-1), true
}

// The bounds of an answer that came at once: fewer tokens, or a shorter wait, tell nothing. No model writes 5,000 tokens a
// second in one answer.
const (
	leastTogether = 4
	leastWait     = 0.020  // seconds to the first token
	leastPerToken = 0.0002 // seconds
)

// AtOnce reports whether an answer whose tokens took a while came all at once, as through a proxy that buffers: its ttft,
// tpot and gaps are then that proxy's. It is not known of a failed request, of fewer than four tokens and chunks, and of
// an answer that took no time.
func (r Request) AtOnce() (at, known bool) {
	n := max(r.Chunks, r.OutputTokens)
	if ttft, ok := r.TTFT(); !ok || r.Chunks == 0 || n < leastTogether || ttft < leastWait {
		return false, false
	}
	return r.LastToken-r.FirstToken < leastPerToken*float64(n-1), true
}

func (r Request) since(start, at float64) (float64, bool) {
	if r.Class != OK || at <= 0 {
		return 0, false
	}
	return at - start, true
}
