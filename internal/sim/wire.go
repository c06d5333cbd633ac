package sim

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// wireForm is how the events of a stream are framed. The zero value is the usual form.
type wireForm struct {
	eol         string // "": "\n"
	field       string // "": "data: "
	heading     string // a line before the data of every event
	comment     string // a comment line before the data, in the same event
	multiline   bool   // an event's JSON is spread over several data lines
	padding     int    // bytes of blanks inside every event
	split       bool   // every byte is written by itself
	held        bool   // nothing is written before the end
	zipped      bool
	contentType string        // "": text/event-stream
	finishApart bool          // finish_reason comes in an event of its own
	finishEarly bool          // finish_reason comes with the first token
	usage       usagePlace    // where usage comes
	usageDelay  time.Duration // before the usage event
	noDone      bool          // no data: [DONE]
	mixed       bool          // every event ends its lines in another way
	bare        bool          // the JSON alone, without a field
	burst       int           // events that are written together
	promised    string        // the Content-Length
}

type usagePlace int

const (
	usageApart  usagePlace = iota // in an event of its own, last
	usageInLast                   // in the event of the last token
	usageNever
	usageEach         // in every event with tokens, and in one of its own
	usageBeforeFinish // in an event of its own, before the finish reason
)

// wire writes events, each by one write to the connection.
type wire struct {
	form wireForm
	http *http.ResponseController
	to   io.Writer
	zip  *gzip.Writer
	buf  []byte
	// conn is where chunks go past the buffers of net/http, once the head of the answer is out; nil: they go through. It
	// halves what a token costs beside the system call.
	conn  net.Conn
	chunk []byte

	events int
}

func newWire(w http.ResponseWriter, r *http.Request, form wireForm) *wire {
	form.eol = orElse(form.eol, "\n")
	form.field = orElse(form.field, "data: ")
	w.Header().Set("Content-Type", orElse(form.contentType, "text/event-stream; charset=utf-8"))
	w.Header().Set("Cache-Control", "no-cache")
	if form.promised != "" {
		w.Header().Set("Content-Length", form.promised)
	}
	out := &wire{form: form, http: http.NewResponseController(w), to: w}
	if form.zipped {
		w.Header().Set("Content-Encoding", "gzip")
		out.zip = gzip.NewWriter(w)
		out.to = out.zip
	}
	// Without a length an answer in HTTP/1.1 is chunked (RFC 9112, 7.1), so that one knows how to write on.
	if c := callerOf(r); c != nil && r.ProtoMajor == 1 && r.ProtoMinor == 1 && form.promised == "" && !form.zipped && !form.held {
		out.conn = c.conn
	}
	return out
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// open sends the head of the answer.
func (w *wire) open() error {
	if w.form.held {
		return nil
	}
	return w.http.Flush()
}

// event sends one event with these data.
func (w *wire) event(data []byte) error {
	w.events++
	if w.form.mixed {
		w.form.eol = []string{"\n", "\r\n", "\r"}[w.events%3]
	}
	if w.form.comment != "" {
		w.line(":", w.form.comment)
	}
	if w.form.heading != "" {
		w.line(w.form.heading, "")
	}
	if !w.form.bare {
		w.buf = append(w.buf, w.form.field...)
	}
	switch {
	case w.form.multiline:
		// A line break between the members of a JSON object is white space.
		w.buf = append(w.buf, strings.ReplaceAll(string(data), `,"`, ","+w.form.eol+w.form.field+`"`)...)
	case w.form.padding > 0 && data[0] == '{':
		w.buf = append(append(append(w.buf, '{'), strings.Repeat(" ", w.form.padding)...), data[1:]...)
	default:
		w.buf = append(w.buf, data...)
	}
	w.buf = append(append(w.buf, w.form.eol...), w.form.eol...)
	return w.send()
}

func (w *wire) line(field, value string) {
	w.buf = append(append(append(w.buf, field...), value...), w.form.eol...)
}

// raw sends bytes as they are.
func (w *wire) raw(s string) error {
	w.buf = append(w.buf, s...)
	return w.send()
}

func (w *wire) send() error {
	if w.form.held || w.form.burst > 0 && w.events%w.form.burst != 0 {
		return nil
	}
	step := len(w.buf)
	if w.form.split {
		step = 1
	}
	for b := w.buf; len(b) > 0; b = b[min(step, len(b)):] {
		if err := w.push(b[:min(step, len(b))]); err != nil {
			return err
		}
	}
	w.buf = w.buf[:0]
	return nil
}

func (w *wire) push(b []byte) error {
	if w.conn != nil {
		w.chunk = strconv.AppendUint(w.chunk[:0], uint64(len(b)), 16)
		w.chunk = append(append(append(w.chunk, "\r\n"...), b...), "\r\n"...)
		if _, err := w.conn.Write(w.chunk); err != nil {
			return fmt.Errorf("write to the client: %w", err)
		}
		return nil
	}
	if _, err := w.to.Write(b); err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	if w.zip != nil {
		if err := w.zip.Flush(); err != nil {
			return fmt.Errorf("write to the client: %w", err)
		}
	}
	return w.http.Flush()
}

// close sends what was held back.
func (w *wire) close() error {
	w.form.held, w.form.burst = false, 0
	if err := w.send(); err != nil {
		return err
	}
	if w.zip != nil {
		return w.zip.Close()
	}
	return nil
}
