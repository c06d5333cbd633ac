package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

func writeText(w io.Writer, v gate.Verdict) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", strings.ToUpper(string(v.Outcome)), v.Summary)
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "  %s %s: %s: %s\n", f.Scenario, f.Metric, f.Outcome, f.Why)
		if f.Next != "" {
			fmt.Fprintf(&b, "    next: %s\n", f.Next)
		}
	}
	fmt.Fprintf(&b, "%s\n", v.Bound)
	_, err := io.WriteString(w, b.String())
	return err
}
