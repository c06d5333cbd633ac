package sim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func before(s seen, first, second string) bool {
	i, j := strings.Index(s.body, first), strings.Index(s.body, second)
	return i >= 0 && i < j
}

func limits(t *testing.T, r *Running) {
	for _, want := range []int{200, 200, 200, 429, 429} {
		s := look(t, r, chat)
		if s.status != want || want == 429 && s.header.Get("Retry-After") != "2" {
			t.Errorf("status %d, want %d", s.status, want)
		}
	}
}

// inVirtualTime plays a fault again where time costs nothing.
func inVirtualTime(o Options, use func(t *testing.T, c *http.Client)) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		o.Fault = r.server.options.Fault
		synctest.Test(t, func(t *testing.T) {
			_, c := virtual(t, o)
			use(t, c)
		})
	}
}

func startsCold(t *testing.T, r *Running) {
	inVirtualTime(Options{TTFT: 100 * time.Millisecond}, func(t *testing.T, c *http.Client) {
		for i := range 10 {
			want := time.Second
			if i >= 8 {
				want = 100 * time.Millisecond
			}
			if got := timed(t, c, "hello", 1)[0]; got != want {
				t.Errorf("answer %d: the first token after %v, want %v", i+1, got, want)
			}
		}
	})(t, r)
}

func queues(t *testing.T, r *Running) {
	inVirtualTime(Options{TTFT: time.Second, Slots: 8}, func(t *testing.T, c *http.Client) {
		var all sync.WaitGroup
		last := make([]time.Duration, 3)
		for i := range last {
			all.Go(func() { last[i] = timed(t, c, "hello", 1)[0] })
		}
		all.Wait()
		slices.Sort(last)
		if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(last, want) {
			t.Errorf("first tokens after %v, want %v", last, want)
		}
	})(t, r)
}

func crawlsOn(t *testing.T, r *Running) {
	inVirtualTime(Options{TPOT: time.Millisecond}, func(t *testing.T, c *http.Client) {
		at := timed(t, c, "hello", 2)
		if len(at) < 4*2+16 || at[3]-at[2] != crawls {
			t.Errorf("%d tokens at %v", len(at), at)
		}
	})(t, r)
}

// drips reads these pieces, one a second, and leaves while more would come.
func drips(pieces ...string) func(*testing.T, *Running) {
	return inVirtualTime(Options{}, func(t *testing.T, c *http.Client) {
		res, err := post(t.Context(), c, "http://sim"+chat, chatBody("hello", 8))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		start, buf := time.Now(), make([]byte, 64)
		for i, want := range pieces {
			n, err := res.Body.Read(buf)
			if at := time.Since(start); err != nil || string(buf[:n]) != want || at != time.Duration(i+1)*time.Second {
				t.Errorf("piece %d after %v: %q, %v", i+1, at, buf[:n], err)
			}
		}
	})
}

func staysOpen(t *testing.T, r *Running) {
	inVirtualTime(Options{}, func(t *testing.T, c *http.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)
		res, err := post(ctx, c, "http://sim"+chat, chatBody("hello", 8))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		start := time.Now()
		body, err := io.ReadAll(res.Body)
		if got := (seen{body: string(body)}); got.tokens() != 8 || !got.done() || err == nil || time.Since(start) != time.Hour {
			t.Errorf("%d tokens, ended after %v with %v", got.tokens(), time.Since(start), err)
		}
	})(t, r)
}

func neverAnswers(t *testing.T, r *Running) {
	inVirtualTime(Options{}, func(t *testing.T, c *http.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if res, err := post(ctx, c, "http://sim"+chat, chatBody("hello", 8)); err == nil {
			res.Body.Close()
			t.Errorf("status %d", res.StatusCode)
		}
	})(t, r)
}

// endlessly reads 4 MiB of an answer that has no end in sight.
func endlessly(is func(*http.Response) bool) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		res, err := open(t.Context(), r, chat)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if n, err := io.CopyN(io.Discard, res.Body, 4<<20); err != nil || !is(res) {
			t.Errorf("status %d, %d bytes, %v", res.StatusCode, n, err)
		}
	}
}

// floodsWith reads so many bytes of a stream, which holds a text again and again and no finish reason.
func floodsWith(size int64, text string) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		res, err := open(t.Context(), r, chat)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(io.LimitReader(res.Body, size))
		if int64(len(body)) != size || err != nil || bytes.Count(body, []byte(text)) < 1000 || bytes.Contains(body, []byte(`"finish_reason":"`)) {
			t.Errorf("%d bytes, %v", len(body), err)
		}
	}
}

func headless(t *testing.T, r *Running) {
	res, err := open(t.Context(), r, chat)
	if err == nil {
		res.Body.Close()
		t.Fatal("the headers ended")
	}
	if !strings.Contains(err.Error(), "response headers exceeded") {
		t.Error(err)
	}
}

func untrusted(says string) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		if !strings.HasPrefix(r.URL(), "https://") {
			t.Errorf("at %s", r.URL())
		}
		res, err := open(t.Context(), r, chat)
		if err == nil {
			res.Body.Close()
			t.Fatal("the certificate was accepted")
		}
		if !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
	}
}
