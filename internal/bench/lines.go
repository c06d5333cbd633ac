package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// maxStream bounds a campaign or a rows file as a whole.
const maxStream = 2 << 30

var errCut = errors.New("the file ends in mid-line")

// eachLine hands on one line after the other, without its end; whole is false for a last line that has none. The line is
// valid until f returns. Errors, those of f too, name the line.
func eachLine(r io.Reader, f func(line []byte, whole bool) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	total := 0
	for number := 1; ; number++ {
		var err error
		line, err = readUpTo(in, line[:0])
		if errors.Is(err, io.EOF) && len(line) == 0 {
			if number == 1 {
				return errors.New("empty file")
			}
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if total += len(line); total > maxStream {
			return fmt.Errorf("line %d: the file is larger than %d MiB", number, maxStream>>20)
		}
		if err := oneLine(line, f); err != nil {
			return onLine(number, err)
		}
	}
}

func oneLine(line []byte, f func(line []byte, whole bool) error) error {
	if conflictMarker(line) {
		return fmt.Errorf("a merge conflict marker %s", shorten(string(bytes.TrimRight(line, "\r\n"))))
	}
	if bytes.HasPrefix(line, []byte(lfsPointer)) {
		return errors.New("a Git LFS pointer, not the file itself; run: git lfs pull")
	}
	body, whole := bytes.CutSuffix(line, []byte("\n"))
	if whole && len(bytes.TrimSpace(body)) == 0 {
		return errors.New("empty line")
	}
	return f(body, whole)
}

// onLine turns a place inside a line into one inside the file.
func onLine(number int, err error) error {
	var p *placed
	if errors.As(err, &p) {
		return &placed{number, p.column, p.err}
	}
	return fmt.Errorf("line %d: %w", number, err)
}

// notOfKind words what is wrong with a first line, where a file of another kind betrays itself.
func notOfKind(err error, schema string) error {
	var p *placed
	if errors.As(err, &p) {
		return &placed{p.line, p.column, fmt.Errorf("not a file with schema %s: %w", schema, p.err)}
	}
	return err
}

// readUpTo appends a line with its end to buf. A line beyond the limit is refused before it is in memory.
func readUpTo(in *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		buf = append(buf, part...)
		if len(buf) > maxLine {
			return buf, fmt.Errorf("longer than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
	}
}

// readLine decodes one line of a stream as strictly as a file.
func readLine(line []byte, v any, known members) error {
	if err := inspect(line, reflect.TypeOf(v), known); err != nil {
		return err
	}
	return decode(line, v)
}
