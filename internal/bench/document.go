package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Limits of what a reader takes. A file beyond them is hostile or is not ours.
const (
	maxFile  = 64 << 20 // bytes of a file that is read whole
	maxLine  = 16 << 20 // bytes of one line of a campaign or a rows file
	maxDepth = 32       // braces and brackets inside one another
)

// Document reads one JSON file of this program whole and decodes it into v, a pointer to a struct. It refuses what is
// larger than 64 MiB, empty, half-written, left in conflict, a pointer of Git LFS, of another kind or of another major
// version; a key that stands twice, a null where a number belongs, deep nesting. Fields that v does not know are
// ignored. Schema is such as [DigestSchema]. An error says the line and column as far as there is one.
func Document(r io.Reader, schema string, v any) error {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	if err := Intact(data); err != nil {
		return err
	}
	if err := inspect(data, reflect.TypeOf(v), members{}); err != nil {
		return err
	}
	if err := kind(data, schema); err != nil {
		return err
	}
	return decode(data, v)
}

const lfsPointer = "version https://git-lfs."

// Intact finds the damage that git does to files: nothing left, a pointer of Git LFS, the markers of a conflict.
func Intact(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("empty file")
	}
	if bytes.HasPrefix(data, []byte(lfsPointer)) {
		return errors.New("line 1: a Git LFS pointer, not the file itself; run: git lfs pull")
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if conflictMarker(line) {
			return fmt.Errorf("line %d: a merge conflict marker %q", number, bytes.TrimRight(line[:min(len(line), 20)], "\r\n"))
		}
	}
	return nil
}

func conflictMarker(line []byte) bool {
	for _, m := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		rest, ok := bytes.CutPrefix(line, []byte(m))
		if ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\r' || rest[0] == '\n') {
			return true
		}
	}
	return false
}

// kind checks the file's own statement of what it is.
func kind(data []byte, want string) error {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := decode(data, &head); err != nil {
		return err
	}
	return checkSchema(head.Schema, want)
}

func checkSchema(got, want string) error {
	wantKind, wantMajor, _ := strings.Cut(want, "/v")
	gotKind, gotVersion, ok := strings.Cut(got, "/v")
	if got == "" || !ok {
		return fmt.Errorf("no schema %q: not a file of benchgate", want)
	}
	if gotKind != wantKind {
		return fmt.Errorf("schema is %s, want %s", shorten(got), want)
	}
	if major, _, _ := strings.Cut(gotVersion, "."); major != wantMajor {
		return fmt.Errorf("schema is %s, and this program knows %s only", shorten(got), want)
	}
	return nil
}

// decode is json.Unmarshal whose errors name the line.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	var moment *time.ParseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return at(data, syntax.Offset, unfinished(data, syntax))
	case errors.As(err, &wrong):
		return at(data, wrong.Offset, fmt.Errorf("%s is a %.60s, want a %s", field(wrong), wrong.Value, wrong.Type))
	case errors.As(err, &moment):
		return at(data, int64(bytes.Index(data, []byte(moment.Value))+1), fmt.Errorf("%s is not a time as of RFC 3339", shorten(moment.Value)))
	}
	return err
}

func field(e *json.UnmarshalTypeError) string {
	if e.Field == "" {
		return "the value"
	}
	return shorten(e.Field)
}

// unfinished words a syntax error: people meet cut files and the NaN of other programs.
func unfinished(data []byte, e *json.SyntaxError) error {
	if e.Offset >= int64(len(data)) && strings.Contains(e.Error(), "unexpected end") {
		return errors.New("the file ends too early")
	}
	for _, word := range []string{"NaN", "Infinity"} {
		if bytes.HasPrefix(data[max(0, e.Offset-1):], []byte(word)) {
			return fmt.Errorf("%s is not a measurement", word)
		}
	}
	return e
}

// placed is an error that knows where in the file it is. Line and column count from 1, the column in bytes.
type placed struct {
	line, column int
	err          error
}

func (p *placed) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", p.line, p.column, p.err)
}
func (p *placed) Unwrap() error { return p.err }

// at puts an error in its place. Offset counts the bytes read, so the place is one before it.
func at(data []byte, offset int64, err error) error {
	before := data[:max(0, min(int64(len(data)), offset-1))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return &placed{line, len(before) - bytes.LastIndexByte(before, '\n'), err}
}

// shorten quotes foreign text for a message.
func shorten(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.Quote(s)
}
