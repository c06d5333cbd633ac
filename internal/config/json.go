package config

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// JSON turns a config's YAML into JSON, so that it can be held against the schema.
func JSON(data []byte) ([]byte, error) {
	out, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	return out, nil
}
