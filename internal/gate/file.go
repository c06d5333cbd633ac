package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteVerdict writes the verdict as indented JSON. The same verdict gives the same bytes.
func WriteVerdict(w io.Writer, v Verdict) error {
	v.Schema = VerdictSchema
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ReadVerdict reads what WriteVerdict wrote; name is the file's, for messages.
func ReadVerdict(r io.Reader, name string) (Verdict, error) {
	var v Verdict
	if err := json.NewDecoder(r).Decode(&v); err != nil {
		return Verdict{}, fmt.Errorf("read verdict %q: %w", name, err)
	}
	return v, nil
}
