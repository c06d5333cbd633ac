package openai

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// dated dates what is read through it, before anything of it is parsed.
type dated struct {
	in    io.Reader
	since func() float64 // the run's clock
	at    float64        // when the bytes read last, or the end, came
	reads int
	some  bool // a byte has come
	left  int  // bytes of a head that may still come; negative: no limit
}

var errLongHead = errors.New("response headers exceeded 256 KiB")

func (d *dated) Read(b []byte) (int, error) {
	if d.left == 0 {
		return 0, errLongHead
	}
	if d.left > 0 {
		b = b[:min(len(b), d.left)]
	}
	n, err := d.in.Read(b)
	d.at = d.since()
	d.reads++
	d.some = d.some || n > 0
	if d.left > 0 {
		d.left -= n
	}
	return n, err
}

// conn is a connection to the target that carries one request at a time: it writes the request, head and body in one piece,
// and reads the answer with the parsers of net/http. The Transport of net/http is not used for what is measured: it hands each
// request to a second goroutine and each answer to a third, builds them when a connection is first used, and every hand-over
// is a wait for a processor that the server may have. Where many streams start together the client is late by that.
type conn struct {
	net.Conn
	dated dated
	in    *bufio.Reader // of dated
	known time.Time     // when it was last known to be open

	// sent tells how a request that is written while its answer is read was written; nil when there is none.
	sent chan error
}

const (
	readBuffer = 8 << 10
	// mostAtOnce is how long a request may be, in bytes, that is written before its answer is read: what the buffers between
	// two machines surely hold. A server may answer before it has read all, and not read on.
	mostAtOnce = 16 << 10
	// afterAnswer is how long a connection waits, once it has carried an answer, for word that its request was written.
	afterAnswer = 10 * time.Millisecond
)

func newConn(nc net.Conn) *conn {
	c := &conn{Conn: nc, known: time.Now(), dated: dated{in: nc}}
	c.in = bufio.NewReaderSize(&c.dated, readBuffer)
	return c
}

// ask sends a request and reads the head of its answer. The run's clock dates what comes.
func (c *conn) ask(request []byte, since func() float64) (*http.Response, error) {
	c.dated.since, c.dated.reads, c.dated.some, c.dated.left = since, 0, false, maxHeader
	wrote := c.write(request)
	resp, err := c.head()
	switch {
	case err == nil && wrote != nil:
		resp.Close = true // the server would not hear all of the request, and said why
	case wrote != nil:
		err = wrote
	}
	return resp, err
}

func (c *conn) write(request []byte) error {
	c.sent = nil
	if len(request) > mostAtOnce {
		sent := make(chan error, 1)
		c.sent = sent
		go func() {
			_, err := c.Conn.Write(request)
			sent <- err
		}()
		return nil
	}
	_, err := c.Conn.Write(request)
	return err
}

// head reads the head of the answer, past those that only say that it will come.
func (c *conn) head() (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(c.in, &http.Request{Method: http.MethodPost})
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.dated.left = -1
			if len(resp.TransferEncoding) > 0 && resp.Body != http.NoBody {
				resp.Body = io.NopCloser(&chunked{in: c.in})
			}
			return resp, nil
		}
	}
}

// cut ends all that the connection is waiting for. Under TLS it says no goodbye, which may wait for seconds itself where the
// server does not read.
func (c *conn) cut() {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		secure.NetConn().Close()
		return
	}
	c.Conn.Close()
}

// free reports whether another request can be sent after an answer that was read to its end.
func (c *conn) free(resp *http.Response) bool {
	if resp.Close || resp.StatusCode < http.StatusOK || c.in.Buffered() > 0 {
		return false
	}
	if c.sent == nil {
		return true
	}
	late := time.NewTimer(afterAnswer)
	defer late.Stop()
	select {
	case err := <-c.sent:
		return err == nil
	case <-late.C:
		return false
	}
}

// ending is the body of an answer that knows whether it was read to its end.
type ending struct {
	io.ReadCloser
	over bool
}

func (e *ending) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	e.over = e.over || errors.Is(err, io.EOF)
	return n, err
}
