// Package ingest turns another tool's result files into runs.
package ingest

import (
	"errors"
	"io"

	"github.com/benchgate/benchgate/internal/bench"
)

var errLater = errors.New("not written yet")

// File is one result file.
type File struct {
	Name string
	Data io.Reader
}

// Options say what the files do not.
type Options struct {
	Runner, Scenario string // "imported" and "vllm" unless set
	Session          string
}

// Formats lists the formats that Digest knows.
func Formats() []string { return []string{"vllm"} }

// Digest reads result files.
func Digest(format string, files []File, o Options) (bench.Digest, error) {
	return bench.Digest{}, errLater
}

// WriteVLLM writes one run in the shape of a result of vllm bench serve.
func WriteVLLM(w io.Writer, run bench.Run, requests []bench.Request, meta map[string]any) error {
	return errLater
}
