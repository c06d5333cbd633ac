package openai

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmaxmax/go-sse"
)

// events parses a stream given in pieces; each event is shown as name|data.
func events(t testing.TB, pieces ...[]byte) []string {
	t.Helper()
	var p parser
	var got []string
	for _, piece := range pieces {
		err := p.feed(piece, func(e event) bool {
			got = append(got, string(e.name)+"|"+string(e.data))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// pieces cuts b into pieces of n bytes.
func pieces(b []byte, n int) [][]byte {
	var all [][]byte
	for len(b) > n {
		all, b = append(all, b[:n]), b[n:]
	}
	return append(all, b)
}

var streams = []struct {
	name, stream string
	want         []string
}{
	{"lines end in LF", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
	{"lines end in CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
	{"lines end in CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
	{"line ends are mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\rdata: d\n\n", []string{"|a", "|b", "|c", "|d"}},
	{"no space after the colon", "data:a\n\ndata:{}\n\n", []string{"|a", "|{}"}},
	{"only the first space is taken", "data:  a\n\n", []string{"| a"}},
	{"byte order mark", "\xEF\xBB\xBFdata: a\n\n", []string{"|a"}},
	{"two byte order marks: the second belongs to a name", "\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\ndata: b\n\n", []string{"|b"}},
	{"half a byte order mark is not one", "\xEF\xBBdata: a\n\ndata: b\n\n", []string{"|b"}},
	{"comments alone", ":\n\n: keep-alive\n\ndata: a\n\n:\n\n", []string{"|a"}},
	{"comment and data in one block", ": ping\ndata: a\n: pong\n\n", []string{"|a"}},
	{"data in several lines", "data: a\ndata: b\ndata:\ndata: c\n\n", []string{"|a\nb\n\nc"}},
	{"data without a colon", "data\n\n", []string{"|"}},
	{"empty data", "data:\n\ndata: a\n\n", []string{"|", "|a"}},
	{"event, id and retry lines", "event: delta\nid: 7\nretry: 10\ndata: a\n\ndata: b\n\n", []string{"delta|a", "|b"}},
	{"the last event line wins", "event: x\nevent: y\ndata: a\n\n", []string{"y|a"}},
	{"an event without data is none", "event: x\n\ndata: a\n\n", []string{"|a"}},
	{"unknown fields", "foo: bar\ndata: a\ndatax: b\n\n", []string{"|a"}},
	{"colons in data", "data: a:b: c\n\n", []string{"|a:b: c"}},
	{"many blank lines", "\n\n\n\ndata: a\n\n\n\n\n", []string{"|a"}},
	{"incomplete last line", "data: a\n\ndata: b", []string{"|a"}},
	{"incomplete last event", "data: a\n\ndata: b\n", []string{"|a"}},
	{"characters of several bytes", "data: é…🙂\n\n", []string{"|é…🙂"}},
	{"NUL bytes", "data: a\x00b\n\n", []string{"|a\x00b"}},
	{"error lines of old llama-server", "data: a\n\nerror: {\"code\":500}\n\n", []string{"|a", "error|{\"code\":500}"}},
	{"nothing", "", nil},
}

func TestStreamIsReadAlikeHoweverItIsCut(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			b := []byte(tt.stream)
			if diff := cmp.Diff(tt.want, events(t, b)); diff != "" {
				t.Fatalf("whole (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, events(t, pieces(b, 1)...)); diff != "" {
				t.Errorf("byte by byte (-want +got):\n%s", diff)
			}
			for i := range b {
				if diff := cmp.Diff(tt.want, events(t, b[:i], b[i:])); diff != "" {
					t.Errorf("cut at %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestEventIsCompleteWithItsBlankLineAndNotLater(t *testing.T) {
	for _, stream := range []string{"data: a\n\n", "data: a\r\r", "data: a\r\n\r", "data: a\n\r"} {
		if got := events(t, []byte(stream)); len(got) != 1 {
			t.Errorf("%q: %d events", stream, len(got))
		}
		if got := events(t, []byte(stream[:len(stream)-1])); len(got) != 0 {
			t.Errorf("%q: complete before its blank line", stream)
		}
	}
}

func TestReadingEndsWhenEmitSaysSo(t *testing.T) {
	var p parser
	n := 0
	if err := p.feed([]byte("data: a\n\ndata: b\n\n"), func(event) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("%d events, %v", n, err)
	}
}

func TestEventLongerThanTheBoundIsRefused(t *testing.T) {
	line := append([]byte("data: "), bytes.Repeat([]byte("x"), 1<<20)...)
	for _, end := range []string{"", "\n"} {
		var p parser
		var err error
		fed := 0
		for err == nil && fed < 2*maxEvent {
			err = p.feed(append(line, end...), func(event) bool { return true })
			fed += len(line)
		}
		if err == nil || fed > maxEvent+2*len(line) {
			t.Errorf("line end %q: %v after %d bytes", end, err, fed)
		}
	}
}

// oracle is go-sse's answer. It knows no difference between an event without data and one with empty data.
func oracle(b []byte) []string {
	var got []string
	for e, err := range sse.Read(bytes.NewReader(b), nil) {
		if err == nil && e.Data != "" {
			got = append(got, e.Type+"|"+e.Data)
		}
	}
	return got
}

func withData(events []string) []string {
	var kept []string
	for _, e := range events {
		if !strings.HasSuffix(e, "|") {
			kept = append(kept, e)
		}
	}
	return kept
}

// FuzzSSE holds the parser to itself under any cutting, and to another implementation of the standard.
func FuzzSSE(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.stream), uint8(1))
		f.Add([]byte(s.stream), uint8(7))
	}
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		whole := events(t, b)
		if diff := cmp.Diff(whole, events(t, pieces(b, int(size)+1)...)); diff != "" {
			t.Fatalf("in pieces of %d (-whole +pieces):\n%s", int(size)+1, diff)
		}
		// Left out: the field that the standard does not have, a mark behind blank lines, which go-sse takes for a byte
		// order mark, and names or data that end like the separator of this test.
		for _, odd := range []string{"error", "\xEF\xBB\xBF", "|"} {
			if bytes.Contains(b, []byte(odd)) {
				return
			}
		}
		if diff := cmp.Diff(oracle(b), withData(whole)); diff != "" {
			t.Fatalf("(-go-sse +ours):\n%s", diff)
		}
	})
}

// stream makes n chunks as vLLM sends them.
func stream(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-0f3b8ad1","object":"chat.completion.chunk","created":1767225600,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`+"\n\n", i)
	}
	return b.Bytes()
}

func BenchmarkParser(b *testing.B) {
	const n = 1000
	s := stream(n)
	report := func(b *testing.B, total int) {
		if total != n*b.N {
			b.Fatalf("%d events", total)
		}
		b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "events/s")
	}
	b.SetBytes(int64(len(s)))
	b.Run("events", func(b *testing.B) {
		b.ReportAllocs()
		total := 0
		for b.Loop() {
			var p parser
			for _, piece := range pieces(s, 1500) {
				if err := p.feed(piece, func(event) bool { total++; return true }); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b, total)
	})
	b.Run("events and chunks", func(b *testing.B) {
		b.ReportAllocs()
		total := 0
		for b.Loop() {
			var p parser
			var c chunk
			for _, piece := range pieces(s, 1500) {
				err := p.feed(piece, func(e event) bool {
					if c.read(e.data) == nil && c.token {
						total++
					}
					return true
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b, total)
	})
	b.Run("go-sse", func(b *testing.B) {
		b.ReportAllocs()
		total := 0
		for b.Loop() {
			for range sse.Read(&slow{s, 1500}, nil) {
				total++
			}
		}
		report(b, total)
	})
}

// slow is a reader of pieces.
type slow struct {
	b []byte
	n int
}

func (s *slow) Read(p []byte) (int, error) {
	n := copy(p, s.b[:min(s.n, len(s.b))])
	s.b = s.b[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
