package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pieces of a body in chunks, cut in two at a place: a read of the connection gives what comes before it, or after.
type twice struct {
	parts []string
	reads int
}

func (s *twice) Read(b []byte) (int, error) {
	for len(s.parts) > 0 && s.parts[0] == "" {
		s.parts = s.parts[1:]
	}
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	s.reads++
	n := copy(b, s.parts[0])
	s.parts[0] = s.parts[0][n:]
	return n, nil
}

// Cut at any byte, all data before the cut is handed out before the connection is read again.
func TestABodyInChunksIsHandedOutAsItComes(t *testing.T) {
	body := wrap("abc") + "2;name=value\r\nde\r\n" + wrap("f") + "0\r\nX: y\r\n\r\n"
	ends := []int{} // where a byte of data stands in the body
	for i, c := range body {
		if c >= 'a' && c <= 'f' && !strings.Contains(";name=value", body[max(0, i-1):i+1]) {
			ends = append(ends, i)
		}
	}
	if len(ends) != 6 {
		t.Fatalf("%d bytes of data", len(ends))
	}
	for cut := range len(body) {
		in := &twice{parts: []string{body[:cut], body[cut:]}}
		c := &chunked{in: bufio.NewReader(in)}
		first, got, buf := "", "", make([]byte, 4)
		for {
			n, err := c.Read(buf)
			if in.reads <= 1 {
				first += string(buf[:n])
			}
			if got += string(buf[:n]); err != nil {
				if err != io.EOF || got != "abcdef" {
					t.Errorf("cut at %d: %q, %v", cut, got, err)
				}
				break
			}
		}
		want := 0
		for _, end := range ends {
			if end < cut {
				want++
			}
		}
		if len(first) != want && cut > 0 {
			t.Errorf("cut at %d, in %q: %d bytes were handed out before the rest came, want %d", cut, body[max(0, cut-5):cut], len(first), want)
		}
	}
}

// theirs reads a body in chunks as net/http does.
func theirs(body []byte) ([]byte, error) {
	return io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(body)))
}

func ours(in io.Reader) ([]byte, error) { return io.ReadAll(&chunked{in: bufio.NewReader(in)}) }

func TestBodiesInChunksReadAsNetHTTPReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var body strings.Builder
		for _, part := range rapid.SliceOf(rapid.StringN(1, 40, -1)).Draw(t, "chunks") {
			fmt.Fprintf(&body, rapid.SampledFrom([]string{"%x", "%X", "0%x", "%x;ext", "%x;a=\"b\"", "%x "}).Draw(t, "size")+"\r\n%s\r\n", len(part), part)
		}
		body.WriteString("0\r\n\r\n")
		text := body.String()
		if cut := rapid.IntRange(0, 2*len(text)).Draw(t, "cut"); cut < len(text) {
			text = text[:cut] + rapid.SampledFrom([]string{"", "x", "\r\n"}).Draw(t, "instead") + text[min(len(text), cut+rapid.IntRange(0, 2).Draw(t, "lost")):]
		}
		agree(t, []byte(text))
	})
}

type failing interface {
	Errorf(string, ...any)
	Helper()
}

// agree holds our reader to net/http's. Ours reads the trailer too, which there another reader does, and takes a space before
// an extension and any number of leading zeros, which the RFC allows.
func agree(t failing, body []byte) {
	t.Helper()
	want, refused := theirs(body)
	for name, in := range map[string]io.Reader{"whole": bytes.NewReader(body), "byte by byte": iotest.OneByteReader(bytes.NewReader(body))} {
		got, err := ours(in)
		switch {
		case refused != nil && err == nil && !bytes.ContainsAny(body, " \t") && !strings.Contains(refused.Error(), "length too large"):
			t.Errorf("%s: %q was taken; net/http says %v", name, body, refused)
		case refused == nil && !bytes.Equal(got, want):
			t.Errorf("%s: %q reads %q, want %q", name, body, got, want)
		case refused == nil && err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !strings.Contains(err.Error(), "line between") && !strings.Contains(err.Error(), "trailer"):
			t.Errorf("%s: %q: %v", name, body, err)
		}
	}
}

func FuzzChunked(f *testing.F) {
	files, err := filepath.Glob("testdata/wire/*.http")
	if err != nil || len(files) == 0 {
		f.Fatal("no answers", err)
	}
	for _, file := range files {
		answer, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if _, body, ok := bytes.Cut(answer, []byte("\r\n\r\n")); ok {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body) })
}

func TestAChunkMayHaveLeadingZeros(t *testing.T) {
	if got, err := ours(strings.NewReader("0000000000000000000003\r\nabc\r\n0\r\n\r\n")); string(got) != "abc" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBodiesInBrokenChunksAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		"":                        "unexpected EOF",
		"3\r\nab":                 "unexpected EOF",
		"3\r\nabc":                "unexpected EOF",
		"3\r\nabc\r\n":            "unexpected EOF",
		"3\r\nabc\r\n0\r\n":       "unexpected EOF",
		"3\r\nabcd\r\n0\r\n\r\n":  `a chunk is longer than it says: "d\r" follows it`,
		"x\r\n":                   `bad length of a chunk: "x"`,
		"-1\r\n":                  `bad length of a chunk: "-1"`,
		"\r\n":                    `bad length of a chunk: ""`,
		"8000000000000000\r\nabc": `bad length of a chunk: "8000000000000000"`,
		"3\nabc\r\n0\r\n\r\n":     `a line between chunks does not end as it should: "3\n"`,
		"3;" + strings.Repeat("x", 1<<14) + "\r\nabc":                   "a line between chunks is too long",
		strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 100): "too little data in the chunks for what stands around it",
		"0\r\n" + strings.Repeat("X: y\r\n", 1<<14):                     "the trailer behind the last chunk is too long",
	} {
		_, err := ours(strings.NewReader(body))
		if err == nil || err.Error() != want {
			t.Errorf("%.60q: %v, want %s", body, err, want)
		}
	}
}

// A token is dated by its own arrival, wherever the framing of the chunks is cut.
func TestTokensAreDatedByTheirOwnArrivalWhereverChunksAreCut(t *testing.T) {
	first, rest := streamHead+wrap(word), wrap(word+finish+count3+done)+"0\r\n\r\n"
	whole := first + rest
	for cut := len(first) - 2; cut <= len(whole); cut++ { // the first token has come, and at some point the second
		in := &twice{parts: []string{whole[:cut], whole[cut:]}}
		from := &dated{in: in, since: func() float64 { return float64(in.reads) }, left: -1} // the number of a read is its date
		r := replayed(t, from)
		second := 1.0
		if cut < len(first)+strings.Index(rest, word)+len(word) { // its event ends with the second of two line feeds
			second = 2
		}
		if diff := cmp.Diff([]float64{1, second}, []float64{r.FirstToken, r.LastToken}); diff != "" {
			t.Errorf("cut before %.20q (-want +got):\n%s", whole[cut:], diff)
		}
	}
}
