package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// chunked reads a body that comes in chunks (RFC 9112, section 7.1). It never reads from the connection while it has bytes to
// hand out: the reader of net/http does, where the head of the next chunk or of the trailer has come and the rest has not,
// and what came first would then be dated by what comes next. That reader stands in the tests as the oracle.
type chunked struct {
	in     *bufio.Reader
	part   part
	left   uint64 // bytes of the chunk at hand that have not been read
	excess int    // bytes around the data that are more than is fair
	trails int    // bytes of the trailer
	err    error
}

// part is what comes next of a chunked body.
type part int

const (
	sizeLine part = iota
	chunkData
	chunkEnd
	trailer
)

const (
	fairPerChunk = 16 // bytes around each chunk, and
	fairPerByte  = 2  // more for each byte in it
	mostExcess   = 16 << 10
	mostTrailer  = 16 << 10
)

// Read hands out what has come. The error that follows it comes with the next call.
func (c *chunked) Read(b []byte) (n int, err error) {
	for n < len(b) && c.err == nil && (n == 0 || c.ready()) {
		if c.part != chunkData {
			c.err = noEnd(c.step())
			continue
		}
		var more int
		more, c.err = c.in.Read(b[n : n+int(min(uint64(len(b)-n), c.left))])
		c.err = noEnd(c.err)
		n += more
		if c.left -= uint64(more); c.left == 0 {
			c.part = chunkEnd
		}
	}
	if n > 0 || len(b) == 0 {
		return n, nil
	}
	if errors.Is(c.err, errChunksOver) {
		return 0, io.EOF
	}
	return 0, c.err
}

// errChunksOver is the end of the body, which an end of the connection is not.
var errChunksOver = errors.New("the last chunk was read")

func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ready reports whether the next part can be read, or begun, without waiting for it.
func (c *chunked) ready() bool {
	switch have := c.in.Buffered(); c.part {
	case chunkData:
		return have > 0
	case chunkEnd:
		return have >= 2
	default:
		ahead, _ := c.in.Peek(have)
		return bytes.IndexByte(ahead, '\n') >= 0
	}
}

// step reads what stands between data.
func (c *chunked) step() error {
	switch c.part {
	case chunkEnd:
		end, err := c.in.Peek(2)
		if err != nil {
			return err
		}
		if string(end) != "\r\n" {
			return fmt.Errorf("a chunk is longer than it says: %q follows it", end)
		}
		c.part = sizeLine
		_, err = c.in.Discard(2)
		return err
	case sizeLine:
		line, err := c.line()
		if err != nil {
			return err
		}
		return c.size(line)
	}
	line, err := c.line()
	switch c.trails += len(line) + 2; {
	case err != nil:
		return err
	case len(line) == 0:
		return errChunksOver
	case c.trails > mostTrailer:
		return errors.New("the trailer behind the last chunk is too long")
	}
	return nil
}

// size takes the line before a chunk: its length in hexadecimal digits, and extensions that mean nothing here.
func (c *chunked) size(line []byte) error {
	digits, _, _ := bytes.Cut(line, []byte{';'})
	n, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 63)
	if err != nil {
		return fmt.Errorf("bad length of a chunk: %q", shorten(string(line), 40))
	}
	if c.excess = max(0, c.excess+len(line)+2-fairPerChunk-fairPerByte*int(min(n, maxEvent))); c.excess > mostExcess {
		return errors.New("too little data in the chunks for what stands around it")
	}
	c.left, c.part = n, chunkData
	if n == 0 {
		c.part = trailer
	}
	return nil
}

// line reads a line that ends in CRLF.
func (c *chunked) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errors.New("a line between chunks is too long")
	case err != nil:
		return nil, err
	}
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || bytes.IndexByte(line, '\r') >= 0 {
		return nil, fmt.Errorf("a line between chunks does not end as it should: %q", shorten(string(line), 40))
	}
	return line, nil
}
