package campaign

import (
	"context"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
)

// DoctorSchema names the document that a Diagnosis is.
const DoctorSchema = "benchgate.doctor/v1"

// The states of a check.
const (
	Good = "ok"
	Warn = "warn" // it can be judged, but mind this
	Fail = "fail" // it cannot be judged
)

// Diagnosis says whether a runner, a client and a server are fit to judge.
type Diagnosis struct {
	Schema string `json:"schema"`
	// Fit is false when any check failed.
	Fit bool `json:"fit"`
	// Simulated says that the server only plays one.
	Simulated bool    `json:"simulated,omitempty"`
	Checks    []Check `json:"checks"`
}

// Check is one thing that was looked at.
type Check struct {
	Section string `json:"section" jsonschema:"enum=runner,enum=server,enum=client,enum=config"`
	// Side says whose server was looked at, where a plan measures two: candidate or reference.
	Side  string `json:"side,omitempty" jsonschema:"enum=candidate,enum=reference"`
	Name  string `json:"name"`
	State string `json:"state" jsonschema:"enum=ok,enum=warn,enum=fail"`
	Found string `json:"found"`
	// Why says what it means for a measurement, and Next what to do; empty where State is Good.
	Why  string `json:"why,omitempty"`
	Next string `json:"next,omitempty"`
	// Class is that of the failed answer, where one failed.
	Class string `json:"class,omitempty"`
	// Figures are the numbers in Found, by name: seconds, shares and counts.
	Figures map[string]float64 `json:"figures,omitempty"`
}

// Examination says what to look at.
type Examination struct {
	// Plan is what would be measured; nil: there is no config, and the client is tested at a few usual loads.
	Plan *Plan
	// Target is the server; nil: none is looked at.
	Target *config.Target
	// Reference is the server that the target is measured in turn with; nil: none.
	Reference            *config.Target
	Folder               string // of the config file
	Log                  string // where the server's output goes, when it is started; the reference's goes to a file beside it
	APIKey, ReferenceKey string
	Host                 host.Facts
	// Dial opens connections to the server; nil is the network. A server in memory has the client's self-test there too.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	Say  func(string) // may be nil: one line of talk
}

// doctor is an examination under way.
type doctor struct {
	Examination
	found Diagnosis
	side
	// Of the short answers, the middle, in seconds, of the faster server; 0: unknown.
	ttft, e2el float64
}

// side is the server that is looked at now.
type side struct {
	name        string // empty where there is only one
	target      *config.Target
	apiKey, log string
	// reconnects counts the requests of a trial, all of them answered, that met a kept connection which the server had closed.
	reconnects int
}

// sides are the servers, the candidate's first.
func (d *doctor) sides() []side {
	if d.Target == nil {
		return nil
	}
	one := side{target: d.Target, apiKey: d.APIKey, log: d.Log}
	if d.Reference == nil {
		return []side{one}
	}
	one.name = candidate
	return []side{one, {name: reference, target: d.Reference, apiKey: d.ReferenceKey, log: d.Log + "-" + reference}}
}

// Examine looks at the runner, the client, the server and the plan. Beside the start of a server that has a command it
// takes less than a minute, unless the server is silent: it is waited for as long as run waits. The error is that of the context.
func Examine(ctx context.Context, e Examination) (Diagnosis, error) {
	if e.Say == nil {
		e.Say = func(string) {}
	}
	d := &doctor{Examination: e, found: Diagnosis{Schema: DoctorSchema, Fit: true}}
	free, unlock := d.runner(ctx)
	defer unlock()
	if free { // what follows would disturb whoever measures
		for _, d.side = range d.sides() {
			d.server(ctx)
		}
		d.client(ctx)
	}
	d.plan()
	return d.found, context.Cause(ctx)
}

func (d *doctor) add(c Check) {
	if c.Section == "server" {
		c.Side = d.name
	}
	d.found.Checks = append(d.found.Checks, c)
	d.found.Fit = d.found.Fit && c.State != Fail
}

func (d *doctor) good(section, name, format string, args ...any) {
	d.add(Check{Section: section, Name: name, State: Good, Found: fmt.Sprintf(format, args...)})
}

// brief writes seconds with about three digits.
func brief(seconds float64) string {
	if math.Abs(seconds) >= 1e9 { // beyond these a duration ends
		return fmt.Sprintf("%.3gs", seconds)
	}
	d := time.Duration(seconds * float64(time.Second))
	for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.Round(10 * time.Microsecond).String()
}
