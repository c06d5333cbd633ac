package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/load"
)

// playBare is what the machine allows: prepared bytes are written to a raw connection, each read is dated, and what was
// read is searched for events and for nothing else. It believes everything and survives nothing.
func playBare(_ context.Context, j job) ([]bench.Request, error) {
	b, err := newBare(j)
	if err != nil {
		return nil, err
	}
	b.start = time.Now()
	if j.Load == open {
		b.open(j)
	} else {
		b.closed(j)
	}
	return b.requests, nil
}

type bare struct {
	start    time.Time
	address  string
	asks     [][]byte
	requests []bench.Request
	conns    chan net.Conn
}

func newBare(j job) (*bare, error) {
	address, _, _ := strings.Cut(strings.TrimPrefix(j.Base, "http://"), "/")
	b := &bare{address: address, requests: make([]bench.Request, j.Requests), conns: make(chan net.Conn, 1<<16)}
	for range j.connections() {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		b.conns <- c
	}
	for i := range j.Requests {
		body := fmt.Sprintf(`{"model":%q,"stream":true,"stream_options":{"include_usage":true},"max_tokens":%d,"ignore_eos":true,"min_tokens":%d,`+
			`"messages":[{"role":"user","content":%q}]}`, j.Model, tokens, tokens, prompt(i))
		b.asks = append(b.asks, fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			address, len(body), body))
	}
	return b, nil
}

// open sends each request at its time. When every connection is taken, another is opened.
func (b *bare) open(j job) {
	var all sync.WaitGroup
	for i, at := range load.Arrivals(j.Seed, j.Rate, 1, j.Requests) {
		b.requests[i].Scheduled = at
		time.Sleep(time.Until(b.start.Add(time.Duration(at * float64(time.Second)))))
		all.Go(func() { b.one(i) })
	}
	all.Wait()
}

// closed keeps so many in flight.
func (b *bare) closed(j job) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range j.Streams {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < j.Requests; i = int(next.Add(1)) - 1 {
				b.requests[i].Scheduled = time.Since(b.start).Seconds()
				b.one(i)
			}
		})
	}
	all.Wait()
}

var (
	eventMark = []byte("data: {")
	endMark   = []byte("0\r\n\r\n") // of a chunked body: no event of the simulated server holds it
)

func (b *bare) connection() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	default:
		return net.Dial("tcp", b.address)
	}
}

// one plays a request. The role of the first chunk comes with its first token here, so that each event but the last,
// which has usage, is a token.
func (b *bare) one(i int) {
	r := &b.requests[i]
	c, err := b.connection()
	if err != nil {
		r.Class, r.Error = bench.Refused, err.Error()
		return
	}
	var buf [32 << 10]byte
	r.Sent = time.Since(b.start).Seconds()
	if _, err := c.Write(b.asks[i]); err != nil {
		r.Class, r.Error = bench.Reset, err.Error()
		return
	}
	events := 0
	for {
		n, err := c.Read(buf[:])
		at := time.Since(b.start).Seconds()
		if err != nil {
			r.Class, r.Error = bench.Truncated, err.Error()
			return
		}
		if more := bytes.Count(buf[:n], eventMark); more > 0 {
			if events == 0 {
				r.FirstToken = at
			}
			if events < tokens {
				r.LastToken = at
			}
			events += more
		}
		if bytes.HasSuffix(buf[:n], endMark) {
			break
		}
	}
	r.Class, r.Chunks, r.OutputTokens, r.End = bench.OK, events-1, events-1, time.Since(b.start).Seconds()
	b.conns <- c
}
