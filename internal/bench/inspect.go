package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// inspect walks the tokens of a JSON text beside the type it is meant for, and finds what json.Unmarshal lets pass:
// deep nesting, a key twice in one object, a null that would become a zero, text after the end.
func inspect(data []byte, t reflect.Type) error {
	w := walker{data: data, dec: json.NewDecoder(bytes.NewReader(data)), members: map[reflect.Type]map[string]reflect.Type{}}
	w.dec.UseNumber()
	err := w.value(t, 0)
	if err == nil {
		if _, end := w.dec.Token(); !errors.Is(end, io.EOF) {
			err = w.flaw("something follows the end of the value")
		}
	}
	var found flaw
	if err == nil || errors.As(err, &found) {
		return err
	}
	// The decoder stumbled: let decode word it, which knows the place.
	var ignored any
	return decode(data, &ignored)
}

type walker struct {
	data    []byte
	dec     *json.Decoder
	members map[reflect.Type]map[string]reflect.Type
}

// flaw is what a walker itself found.
type flaw struct{ error }

func (f flaw) Unwrap() error { return f.error }

func (w walker) flaw(format string, args ...any) error {
	return flaw{at(w.data, w.dec.InputOffset(), fmt.Errorf(format, args...))}
}

func (w walker) value(t reflect.Type, depth int) error {
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return w.flaw("nested deeper than %d", maxDepth)
	}
	t, optional := target(t)
	switch token {
	case json.Delim('{'):
		return w.object(t, depth)
	case json.Delim('['):
		return w.array(t, depth)
	case nil:
		if !optional {
			return w.flaw("null stands where a value belongs; what is unknown is left out")
		}
	}
	return nil
}

func (w walker) object(t reflect.Type, depth int) error {
	seen := map[string]bool{}
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if seen[key] {
			return w.flaw("%s stands twice", shorten(key))
		}
		seen[key] = true
		if err := w.value(w.member(t, key), depth+1); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w walker) array(t reflect.Type, depth int) error {
	var element reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		element = t.Elem()
	}
	for w.dec.More() {
		if err := w.value(element, depth+1); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
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
func (w walker) member(t reflect.Type, key string) reflect.Type {
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		fields, ok := w.members[t]
		if !ok {
			fields = map[string]reflect.Type{}
			for _, f := range reflect.VisibleFields(t) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				fields[strings.ToLower(name)] = f.Type
			}
			w.members[t] = fields
		}
		return fields[strings.ToLower(key)]
	}
	return nil
}
