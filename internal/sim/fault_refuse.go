package sim

import (
	"fmt"
	"net/http"
	"time"
)

// refusals are faults that answer without generating.
func refusals(n int) []fault {
	status := func(code int, message string) func(*Server, *http.Request, request) error {
		return func(*Server, *http.Request, request) error {
			return apiError{status: code, message: message, code: "simulated"}
		}
	}
	return []fault{
		{
			Fault:  Fault{"refuse-stream", "answers 400 to a request for a stream"},
			refuse: refuseStream,
		},
		{
			Fault:      Fault{"not-streaming", "answers a request for a stream with one JSON body"},
			unstreamed: true,
		},
		{
			Fault:   Fault{"error-500", "answers 500 with an HTML page"},
			refuse:  status(http.StatusInternalServerError, "Internal Server Error"),
			decline: htmlPage,
		},
		{
			Fault:   Fault{"error-503", "answers 503 with an HTML page, as a proxy without a backend does"},
			refuse:  status(http.StatusServiceUnavailable, "Service Temporarily Unavailable"),
			decline: htmlPage,
		},
		{
			Fault:   Fault{"error-429", "answers 429 with Retry-After: 2"},
			refuse:  status(http.StatusTooManyRequests, "Rate limit reached, try again in 2 s"),
			decline: retryAfter,
		},
		{
			Fault:   Fault{"error-429-date", "answers 429 with a date 90 s ahead in Retry-After"},
			refuse:  status(http.StatusTooManyRequests, "Rate limit reached"),
			decline: retryAtDate,
		},
		{
			Fault:   Fault{"limit-after-N", "answers N generations, then 429 to every one"},
			refuse:  limitAfter(n),
			decline: retryAfter,
		},
		{
			Fault:  Fault{"error-200", "answers 200 with an error in a JSON body"},
			refuse: status(http.StatusOK, "simulated failure"),
		},
		{
			Fault:   Fault{"web-page", "answers 200 with an HTML page"},
			refuse:  status(http.StatusOK, "Welcome"),
			decline: htmlPage,
		},
		{
			Fault:  Fault{"no-answer", "takes a request and never answers it"},
			refuse: neverAnswer,
		},
		{
			Fault:  Fault{"fail-every-N", "answers 500 to every Nth request"},
			refuse: everyNth(n),
		},
		{
			Fault:  Fault{"echo-key", "answers 401 and repeats the Authorization header in the message"},
			refuse: echoKey,
		},
		{
			Fault:   Fault{"redirect", "answers 307 to another path"},
			refuse:  status(http.StatusTemporaryRedirect, "moved"),
			decline: redirect,
		},
		{
			Fault:   Fault{"loading", "is unhealthy for 1 s after its start, and answers 503 to generations for 2 s"},
			loading: 2 * time.Second,
			refuse:  refuseLoading,
		},
		{
			Fault:  Fault{"drop-kept", "closes a kept connection when the next request comes on it"},
			refuse: dropKept,
		},
		{
			Fault:  Fault{"needs-max-tokens", "rejects max_completion_tokens with 400"},
			refuse: needsField("max_completion_tokens", func(q request) bool { return q.newLimit }),
		},
		{
			Fault:  Fault{"needs-max-completion-tokens", "rejects max_tokens with 400"},
			refuse: needsField("max_tokens", func(q request) bool { return q.oldLimit }),
		},
		{
			Fault:  Fault{"chat-only", "has no /v1/completions"},
			hidden: []string{"/v1/completions"},
		},
		{
			Fault:  Fault{"completions-only", "has no /v1/chat/completions"},
			hidden: []string{"/v1/chat/completions"},
		},
		{
			Fault:  Fault{"bare", "has neither /health, /metrics, /tokenize nor /version"},
			hidden: []string{"/health", "/metrics", "/tokenize", "/version"},
		},
	}
}

func refuseStream(_ *Server, _ *http.Request, q request) error {
	if !q.streaming {
		return nil
	}
	return bad("stream", "streaming is not supported")
}

func everyNth(n int) func(*Server, *http.Request, request) error {
	return func(s *Server, _ *http.Request, _ request) error {
		if s.begun.Add(1)%int64(n) != 0 {
			return nil
		}
		return apiError{http.StatusInternalServerError, "simulated failure", "simulated", ""}
	}
}

func limitAfter(n int) func(*Server, *http.Request, request) error {
	return func(s *Server, _ *http.Request, _ request) error {
		if s.begun.Add(1) <= int64(n) {
			return nil
		}
		return apiError{http.StatusTooManyRequests, "Rate limit reached, try again in 2 s", "rate_limit_exceeded", ""}
	}
}

func neverAnswer(s *Server, r *http.Request, _ request) error {
	select {
	case <-r.Context().Done():
	case <-s.dead:
	}
	return errBreak
}

func echoKey(_ *Server, r *http.Request, _ request) error {
	return apiError{http.StatusUnauthorized, fmt.Sprintf("Incorrect API key provided: %q", r.Header.Get("Authorization")), "invalid_api_key", ""}
}

func refuseLoading(s *Server, _ *http.Request, _ request) error {
	if time.Since(s.started) >= s.fault.loading {
		return nil
	}
	return apiError{http.StatusServiceUnavailable, "Loading model", "unavailable_error", ""}
}

func dropKept(_ *Server, r *http.Request, _ request) error {
	if kept(r) {
		return errBreak
	}
	return nil
}

func needsField(rejected string, sent func(request) bool) func(*Server, *http.Request, request) error {
	return func(_ *Server, _ *http.Request, q request) error {
		if sent(q) {
			return bad(rejected, "unsupported parameter: %q is not supported with this model", rejected)
		}
		return nil
	}
}

func htmlPage(w http.ResponseWriter, e apiError) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(e.status)
	fmt.Fprintf(w, "<html>\r\n<head><title>%d %s</title></head>\r\n<body><center><h1>%[1]d %[2]s</h1></center></body>\r\n</html>\r\n", e.status, e.message)
}

func retryAfter(w http.ResponseWriter, e apiError) {
	if e.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "2")
	}
	refuse(w, e)
}

func retryAtDate(w http.ResponseWriter, e apiError) {
	if e.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
	}
	refuse(w, e)
}

func redirect(w http.ResponseWriter, e apiError) {
	if e.status == http.StatusTemporaryRedirect {
		w.Header().Set("Location", "/elsewhere")
	}
	refuse(w, e)
}
