package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/schema"
)

type schemaCmd struct {
	Kind  string `arg:"" optional:"" enum:"config,digest,verdict,campaign,doctor" default:"config" help:"config, digest, verdict, campaign or doctor: the document of doctor --json."`
	Check string `placeholder:"FILE" help:"Check a file against the schema instead of printing it."`
}

// Run prints a schema, or checks a file against it.
func (c schemaCmd) Run(sh *shell) error {
	text, err := schema.Of(c.Kind)
	if err != nil {
		return err
	}
	if c.Check == "" {
		_, err := sh.stdout.Write(text)
		return err
	}
	data, err := os.ReadFile(c.Check)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	problems, err := c.problems(data)
	if err != nil {
		return fmt.Errorf("check %q: %w", c.Check, err)
	}
	for _, p := range problems {
		fmt.Fprintf(sh.stdout, "%s: %s\n", c.Check, p)
	}
	if len(problems) > 0 {
		return errors.New("the file does not fit the schema")
	}
	fmt.Fprintf(sh.stdout, "%s fits the schema of a %s\n", c.Check, c.Kind)
	return nil
}

// problems checks a document; a config is YAML, and a campaign is a document a line.
func (c schemaCmd) problems(data []byte) ([]string, error) {
	switch c.Kind {
	case "config":
		var err error
		if data, err = config.JSON(data); err != nil {
			return nil, err
		}
	case "campaign":
		return lineProblems(c.Kind, data)
	}
	return schema.Check(c.Kind, data)
}

// lineProblems checks a document a line, by one reading of the schema: a campaign has as many lines as requests.
func lineProblems(kind string, data []byte) (all []string, err error) {
	rules, err := schema.Read(kind)
	if err != nil {
		return nil, err
	}
	for n, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		problems, err := rules.Check(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		for _, p := range problems {
			all = append(all, fmt.Sprintf("line %d: %s", n+1, p))
		}
	}
	return all, nil
}
