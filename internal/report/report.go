// Package report renders a verdict in a format.
//
// It computes nothing that decides: what it shows is in the verdict. The same verdict gives the same bytes.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// formats is the table of formats by name; a new one is one more line.
var formats = map[string]func(io.Writer, gate.Verdict) error{
	"text":     writeText,
	"json":     gate.WriteVerdict,
	"html":     writeHTML,
	"markdown": writeMarkdown,
}

// Formats are the names that Write knows, sorted.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Write renders the verdict. An unknown format is an error that names the known ones.
func Write(w io.Writer, format string, v gate.Verdict) error {
	render, ok := formats[format]
	if !ok {
		return fmt.Errorf("report format %q is none of %s", format, strings.Join(Formats(), ", "))
	}
	return render(w, v)
}
