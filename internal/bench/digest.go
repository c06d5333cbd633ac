package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/stat"
)

// ReadDigest reads a digest strictly: see [Document] for what is refused of any file. Besides, counts have to add up,
// numbers to be measurable, names to be names, and each run to stand once in its session. Name stands for the file in
// errors, which say the line, or the session and the run.
func ReadDigest(r io.Reader, name string) (Digest, error) {
	var d Digest
	err := Document(r, DigestSchema, &d)
	if err == nil {
		d.Schema = DigestSchema
		err = checkDigest(d)
	}
	if err != nil {
		return Digest{}, fmt.Errorf("read digest %q: %w", name, err)
	}
	return d, nil
}

// WriteDigest writes a digest in its canonical form: sorted keys, one run a line, numbers of 10 significant digits, times
// in UTC. The same digest gives the same bytes, and reading them and writing again changes nothing. What ReadDigest
// would refuse is not written.
func WriteDigest(w io.Writer, d Digest) error {
	d.Schema = DigestSchema
	if err := checkDigest(d); err != nil {
		return fmt.Errorf("write digest %q: %w", d.Scenario, err)
	}
	canonical := reflect.New(reflect.TypeOf(d)).Elem()
	settle(canonical, reflect.ValueOf(d))
	data, err := marshal(canonical.Interface())
	if err != nil {
		return fmt.Errorf("write digest %q: %w", d.Scenario, err)
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return fmt.Errorf("write digest %q: %w", d.Scenario, err)
	}
	var b bytes.Buffer
	if err := lay(&b, tree, "", false); err != nil {
		return fmt.Errorf("write digest %q: %w", d.Scenario, err)
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// settle copies a value of the digest into place: floats rounded, times in UTC, and lists and maps that are always
// written empty rather than null.
func settle(to, from reflect.Value) {
	if at, ok := from.Interface().(time.Time); ok {
		to.Set(reflect.ValueOf(at.UTC().Round(0)))
		return
	}
	switch from.Kind() {
	case reflect.Float64:
		to.SetFloat(stat.Round(from.Float()))
	case reflect.Struct:
		for i := range from.NumField() {
			settle(to.Field(i), from.Field(i))
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			settle(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			settle(to.Index(i), from.Index(i))
		}
	case reflect.Map:
		to.Set(reflect.MakeMap(from.Type()))
		for _, key := range from.MapKeys() {
			value := reflect.New(from.Type().Elem()).Elem()
			settle(value, from.MapIndex(key))
			to.SetMapIndex(key, value)
		}
	default:
		to.Set(from)
	}
}

// lay writes a tree with two spaces a level; each element of a list called "runs" takes one line.
func lay(b *bytes.Buffer, tree any, indent string, runs bool) error {
	inner := indent + "  "
	switch node := tree.(type) {
	case map[string]any:
		if len(node) == 0 {
			b.WriteString("{}")
			return nil
		}
		for i, key := range slices.Sorted(maps.Keys(node)) {
			b.WriteString(opening("{", i) + inner)
			if err := compact(b, key); err != nil {
				return err
			}
			b.WriteString(": ")
			if err := lay(b, node[key], inner, key == "runs"); err != nil {
				return err
			}
		}
		b.WriteString("\n" + indent + "}")
	case []any:
		if len(node) == 0 {
			b.WriteString("[]")
			return nil
		}
		for i, element := range node {
			b.WriteString(opening("[", i) + inner)
			next := lay
			if runs {
				next = func(b *bytes.Buffer, tree any, _ string, _ bool) error { return compact(b, tree) }
			}
			if err := next(b, element, inner, false); err != nil {
				return err
			}
		}
		b.WriteString("\n" + indent + "]")
	default:
		return compact(b, tree)
	}
	return nil
}

func opening(bracket string, i int) string {
	if i == 0 {
		return bracket + "\n"
	}
	return ",\n"
}

func compact(b *bytes.Buffer, v any) error {
	data, err := marshal(v)
	b.Write(data)
	return err
}

// marshal is json.Marshal that leaves <, > and & as people wrote them.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
