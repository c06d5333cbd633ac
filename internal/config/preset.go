package config

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

//go:embed presets/*.yaml
var presets embed.FS

// Presets lists the names that [Preset] knows.
func Presets() []string { return []string{"gpu", "mac", "cpu"} }

// Preset is a commented config to start from: for a machine with a "gpu", for a "mac", or for plain "cpu". gateOn is the
// event that the gate will run on, "pull_request" or "merge_group"; it decides how long a campaign may take.
func Preset(name, gateOn string) ([]byte, error) {
	if !slices.Contains(Presets(), name) {
		return nil, &Error{Message: fmt.Sprintf("there is no preset %s", quote(name)), Hint: "write " + strings.Join(Presets(), ", ")}
	}
	budgets := map[string]string{"pull_request": "60m", "merge_group": "30m"}
	if budgets[gateOn] == "" {
		return nil, &Error{Message: fmt.Sprintf("a gate does not run on %s", quote(gateOn)), Hint: "write pull_request or merge_group"}
	}
	t, err := template.ParseFS(presets, "presets/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("preset %q: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, name+".yaml", map[string]string{"On": gateOn, "Budget": budgets[gateOn]}); err != nil {
		return nil, fmt.Errorf("preset %q: %w", name, err)
	}
	return out.Bytes(), nil
}
