package config

import (
	"encoding/json"
	"fmt"
)

// JSON turns a config's YAML into JSON, so that it can be held against the schema. What it refuses, [Parse] refuses too.
func JSON(data []byte) ([]byte, error) {
	r, root, e := newReader("", data)
	if e != nil {
		return nil, e
	}
	v := r.plain(root)
	if len(r.mistakes) > 0 {
		return nil, join(r.mistakes)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write a config as JSON: %w", err)
	}
	return out, nil
}
