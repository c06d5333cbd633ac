package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// inspect holds a JSON text against the type it is meant for, and finds what json.Unmarshal lets pass: deep nesting, a
// key twice in one object, a null that would become a zero. It reads bytes instead of tokens: a json.Decoder took four
// fifths of the time of reading a campaign. Known remembers fields by type, for a caller with many texts.
func inspect(data []byte, t reflect.Type, known members) error {
	if offset := tooDeep(data); offset > 0 {
		return at(data, offset, fmt.Errorf("nested deeper than %d", maxDepth))
	}
	if !json.Valid(data) {
		var ignored any
		return decode(data, &ignored)
	}
	w := walker{data: data, known: known}
	w.value(t)
	return w.err
}

// tooDeep returns the offset behind the first bracket that opens too many; 0 if none does. The text need not be valid.
func tooDeep(data []byte) int64 {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return int64(i + 1)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return 0
}

// walker goes through valid JSON, which has no end but its own: no index needs a check. The first flaw stays in err.
type walker struct {
	data  []byte
	i     int
	known members
	err   error
}

// members holds the type of each field of a struct by its name in JSON, in lower case.
type members map[reflect.Type]map[string]reflect.Type

func (w *walker) flaw(format string, args ...any) {
	if w.err == nil {
		w.err = at(w.data, int64(w.i), fmt.Errorf(format, args...))
	}
}

func (w *walker) value(t reflect.Type) {
	t, optional := target(t)
	switch c := w.next(); c {
	case '{':
		w.object(t)
	case '[':
		w.array(t)
	case '"':
		w.text()
	default:
		w.literal()
		if c == 'n' && !optional {
			w.flaw("null stands where a value belongs; what is unknown is left out")
		}
	}
}

// literal skips a number, true, false or null.
func (w *walker) literal() {
	for ; w.i < len(w.data); w.i++ {
		switch w.data[w.i] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// next skips space and returns the byte that w.i then points at.
func (w *walker) next() byte {
	for w.data[w.i] == ' ' || w.data[w.i] == '\n' || w.data[w.i] == '\t' || w.data[w.i] == '\r' {
		w.i++
	}
	return w.data[w.i]
}

// text skips a string and returns it with its quotes.
func (w *walker) text() []byte {
	start := w.i
	for w.i++; w.data[w.i] != '"'; w.i++ {
		if w.data[w.i] == '\\' {
			w.i++
		}
	}
	w.i++
	return w.data[start:w.i]
}

func (w *walker) object(t reflect.Type) {
	w.i++
	seen := map[string]bool{}
	for w.next() != '}' {
		if w.data[w.i] == ',' {
			w.i++
			w.next()
		}
		key := unquote(w.text())
		if seen[key] {
			w.flaw("%s stands twice", shorten(key))
		}
		seen[key] = true
		w.next()
		w.i++ // the colon
		w.value(w.member(t, key))
	}
	w.i++
}

func unquote(quoted []byte) string {
	var s string
	if bytes.IndexByte(quoted, '\\') < 0 {
		s = strings.ToValidUTF8(string(quoted[1:len(quoted)-1]), "\ufffd")
	} else if err := json.Unmarshal(quoted, &s); err != nil {
		panic(err) // json.Valid said otherwise
	}
	return s
}

func (w *walker) array(t reflect.Type) {
	w.i++
	var element reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		element = t.Elem()
	}
	for w.next() != ']' {
		if w.data[w.i] == ',' {
			w.i++
		}
		w.value(element)
	}
	w.i++
}

// target follows pointers. A null is harmless where it means absence: in a pointer, a list, a map, and in what is unknown.
func target(t reflect.Type) (_ reflect.Type, optional bool) {
	for t != nil && t.Kind() == reflect.Pointer {
		t, optional = t.Elem(), true
	}
	if t == nil {
		return nil, true
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Interface:
		optional = true
	}
	return t, optional
}

// member is the type of what stands under a key; nil for a key that the type does not know. Like json.Unmarshal it does
// not mind the case of a field's name.
func (w *walker) member(t reflect.Type, key string) reflect.Type {
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		fields, ok := w.known[t]
		if !ok {
			fields = membersOf(t)
			w.known[t] = fields
		}
		return fields[strings.ToLower(key)]
	}
	return nil
}

func membersOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[strings.ToLower(name)] = f.Type
	}
	return fields
}
