package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/benchgate/benchgate/internal/bench"
)

// WriteVerdict writes the verdict as indented JSON. The same verdict gives the same bytes. What ReadVerdict would refuse is
// not written.
func WriteVerdict(w io.Writer, v Verdict) error {
	v.Schema = VerdictSchema
	if err := v.check(); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	return nil
}

// ReadVerdict reads a verdict strictly: see [bench.Document] for what is refused of any file. Besides, outcomes have to be
// known, and the exit code has to be one that the outcome can have. Name stands for the file in errors.
func ReadVerdict(r io.Reader, name string) (Verdict, error) {
	var v Verdict
	err := bench.Document(r, VerdictSchema, &v)
	if err == nil {
		v.Schema = VerdictSchema
		err = v.check()
	}
	if err != nil {
		return Verdict{}, fmt.Errorf("read verdict %q: %w", name, err)
	}
	return v, nil
}

// check refuses a verdict that this package cannot have given.
func (v Verdict) check() error {
	if !v.Outcome.known() {
		return fmt.Errorf("outcome %s is none of ours", quote(string(v.Outcome)))
	}
	if !v.Outcome.mayExit(v.ExitCode) {
		return fmt.Errorf("outcome %s cannot have exit code %d", v.Outcome, v.ExitCode)
	}
	for i, f := range v.Findings {
		if err := f.check(); err != nil {
			return fmt.Errorf("finding %d (%s %s): %w", i+1, f.Scenario, f.Metric, err)
		}
	}
	for i, s := range v.Series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("series %d (%s %s): %d x and %d y", i+1, s.Scenario, s.Name, len(s.X), len(s.Y))
		}
	}
	return nil
}

// mayExit reports whether some policy gives the outcome this exit code.
func (o Outcome) mayExit(code int) bool {
	return code == o.ExitCode(Policy{}) || code == o.ExitCode(Policy{OnInconclusive: "fail", OnMissing: "fail"})
}

func (f Finding) check() error {
	if !f.Outcome.known() {
		return fmt.Errorf("outcome %s is none of ours", quote(string(f.Outcome)))
	}
	if f.Why == "" {
		return fmt.Errorf("outcome %s without a reason", f.Outcome)
	}
	if c := f.Change; c != nil && !(c.WorseLow <= c.Worse && c.Worse <= c.WorseHigh) {
		return fmt.Errorf("the change %v lies outside its interval from %v to %v", c.Worse, c.WorseLow, c.WorseHigh)
	}
	for _, r := range f.Runs {
		if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) || r.Value < 0 {
			return fmt.Errorf("run %d of %s: value %v", r.Order, r.Side, r.Value)
		}
	}
	return nil
}
