package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

const maxDepth = 32

// result is one object of a file. What cannot be read is an error of the accessor that meets it, which stays in err.
type result struct {
	from   string
	fields map[string]json.RawMessage
}

// resultsOf reads a file of one JSON object, or of several one after the other. It takes what Python writes: NaN and
// Infinity, a byte order mark.
func resultsOf(f File) ([]result, error) {
	data, err := io.ReadAll(io.LimitReader(f.Data, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := bench.Intact(data); err != nil {
		return nil, err
	}
	if data, err = plain(data); err != nil {
		return nil, err
	}
	var results []result
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		start := d.InputOffset()
		r := result{from: f.Name}
		if err := d.Decode(&r.fields); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, wrong(data, start)
		}
		if r.fields == nil {
			return nil, fmt.Errorf("line %d: null instead of a result", line(data, start))
		}
		if len(results) >= maxResults {
			return nil, fmt.Errorf("more than %d results", maxResults)
		}
		results = append(results, r)
	}
	for i := range results {
		if len(results) > 1 {
			results[i].from = fmt.Sprintf("%s, result %d", f.Name, i+1)
		}
	}
	return results, nil
}

// sum is a hash of the result's content; the order of its fields and the space between them do not count.
func (r result) sum() ([sha256.Size]byte, error) {
	data, err := json.Marshal(r.fields)
	return sha256.Sum256(data), err
}

// wrong says what is wrong with the object that begins at start.
func wrong(data []byte, start int64) error {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data[start:], &fields)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		if strings.Contains(syntax.Error(), "unexpected end") {
			return fmt.Errorf("line %d: the file ends too early", line(data, int64(len(data))))
		}
		return fmt.Errorf("line %d: %w", line(data, start+syntax.Offset-1), err)
	case err == nil:
		err = errors.New("cannot be read")
	}
	return fmt.Errorf("line %d: not an object: %.200v", line(data, start), err)
}

// line counts from 1; space before a place belongs to it.
func line(data []byte, offset int64) int {
	for offset < int64(len(data)) && strings.ContainsRune(" \t\r\n", rune(data[offset])) {
		offset++
	}
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// plain makes JSON of what Python's json.dump writes: bare NaN and infinities become strings. It refuses deep nesting,
// which would cost memory later.
func plain(data []byte) ([]byte, error) {
	var out []byte
	kept, depth := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = closing(data, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return nil, fmt.Errorf("line %d: nested deeper than %d", line(data, int64(i)), maxDepth)
			}
		case '}', ']':
			depth--
		case 'N', 'I', '-':
			if word := bareWord(data[i:]); word != "" {
				out = append(append(append(append(out, data[kept:i]...), '"'), word...), '"')
				i += len(word) - 1
				kept = i + 1
			}
		}
	}
	if kept == 0 {
		return data, nil
	}
	return append(out, data[kept:]...), nil
}

// closing finds the quote that ends the string at i, or the last byte.
func closing(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return min(i, len(data)-1)
}

func bareWord(data []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}

// text is a string; false where it is absent, null or something else.
func (r result) text(key string) (string, bool) {
	var s *string
	if err := json.Unmarshal(r.fields[key], &s); err != nil || s == nil {
		return "", false
	}
	return *s, true
}

// has reports whether there is something other than null under a key.
func (r result) has(key string) bool {
	raw, ok := r.fields[key]
	return ok && string(raw) != "null"
}

// number is a number or a string that spells one, NaN and infinities too; false where it is absent or null.
func (r result) number(key string) (float64, bool, error) {
	if !r.has(key) {
		return 0, false, nil
	}
	v, err := toFloat(r.fields[key])
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", quote(key), err)
	}
	return v, true, nil
}

// count is a whole number from 0; false where it is absent or null.
func (r result) count(key string) (int, bool, error) {
	v, ok, err := r.number(key)
	if err == nil && ok && (v != math.Trunc(v) || v < 0 || v > 1e9) { // a NaN is not its own truncation
		err = fmt.Errorf("%s is %v: not a count", quote(key), v)
	}
	return int(v), ok && err == nil, err
}

func toFloat(raw json.RawMessage) (float64, error) {
	s := string(raw)
	if strings.HasPrefix(s, `"`) {
		if err := json.Unmarshal(raw, &s); err != nil {
			return 0, err
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if errors.Is(err, strconv.ErrRange) {
		return v, nil // an infinity, which the caller refuses or not
	}
	if err != nil {
		return 0, fmt.Errorf("%s is not a number", quote(s))
	}
	return v, nil
}

// floats is a list of numbers; nil where it is absent. What is null in it becomes NaN.
func (r result) floats(key string) ([]float64, error) {
	if !r.has(key) {
		return nil, nil
	}
	values, err := toFloats(r.fields[key])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", quote(key), err)
	}
	return values, nil
}

func toFloats(raw json.RawMessage) ([]float64, error) {
	if values := []float64(nil); !bytes.Contains(raw, []byte("null")) && json.Unmarshal(raw, &values) == nil {
		return values, nil
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		return nil, errors.New("not a list of numbers")
	}
	values := make([]float64, len(elements))
	for i, e := range elements {
		if values[i] = math.NaN(); string(e) == "null" {
			continue
		}
		v, err := toFloat(e)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		values[i] = v
	}
	return values, nil
}

// list decodes a list; nil where it is absent.
func list[T any](r result, key string) ([]T, error) {
	var values []T
	if !r.has(key) {
		return nil, nil
	}
	if err := json.Unmarshal(r.fields[key], &values); err != nil {
		return nil, fmt.Errorf("%s: %.200v", quote(key), err)
	}
	return values, nil
}

// quote shows foreign text in a message.
func quote(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return strconv.Quote(s)
}
