package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// virtual starts a server in the test's bubble of virtual time, and a client for it.
func virtual(t *testing.T, o Options) (*Running, *http.Client) {
	t.Helper()
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	l := NewMemory()
	r := Serve(New(o), l)
	transport := &http.Transport{DialContext: l.Dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, &http.Client{Transport: transport}
}

// loopback starts a server on a real socket.
func loopback(t *testing.T, o Options) *Running {
	t.Helper()
	r, err := Listen(o, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func post(ctx context.Context, c *http.Client, url, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return c.Do(r)
}

// chatBody asks for a stream of n tokens.
func chatBody(prompt string, n int) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"max_tokens":%d,"stream":true,"stream_options":{"include_usage":true}}`, prompt, n)
}

// arrivals reads a stream and notes when each of its reads came. In virtual time one write is one read.
func arrivals(body io.Reader, start time.Time) []time.Duration {
	var at []time.Duration
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		for range bytes.Count(buf[:n], []byte(`"finish_reason"`)) {
			at = append(at, time.Since(start))
		}
		if err != nil {
			return at
		}
	}
}

// timed asks for a stream of n tokens and says when each token came.
func timed(t *testing.T, c *http.Client, prompt string, n int) []time.Duration {
	t.Helper()
	start := time.Now()
	res, err := post(t.Context(), c, "http://sim/v1/chat/completions", chatBody(prompt, n))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer res.Body.Close()
	return arrivals(res.Body, start)
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// reply is any answer: an error, a whole generation, or one event of a stream.
type reply struct {
	Error   *struct{ Message, Param, Code string }
	Choices []struct {
		Text    string
		Message struct{ Content string }
		Delta   struct{ Content string }
		Finish  string `json:"finish_reason"`
	}
	Usage usage
}

// ask sends one request that does not stream.
func ask(t *testing.T, url, body string) (int, reply) {
	t.Helper()
	res, err := post(t.Context(), http.DefaultClient, url, body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var r reply
	if err := json.NewDecoder(res.Body).Decode(&r); err != nil {
		t.Fatalf("answer to %s: %v", body, err)
	}
	return res.StatusCode, r
}
