package campaign

import (
	"context"
	"fmt"
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
	Section string `json:"section"` // runner, client, server or config
	Name    string `json:"name"`
	State   string `json:"state"` // Good, Warn or Fail
	Found   string `json:"found"`
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
	Folder string // of the config file
	Log    string // where the server's output goes, when it is started
	APIKey string
	Host   host.Facts
	// Dial opens connections to the server; nil is the network. A server in memory has the client's self-test there too.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	Say  func(string) // may be nil: one line of talk
}

// doctor is an examination under way.
type doctor struct {
	Examination
	found Diagnosis
	// Of the server's short answers, the middle, in seconds; 0: unknown.
	ttft, e2el float64
}

// Examine looks at the runner, the client, the server and the plan. Beside the start of a server that has a command it
// takes less than a minute. The error is that of the context.
func Examine(ctx context.Context, e Examination) (Diagnosis, error) {
	if e.Say == nil {
		e.Say = func(string) {}
	}
	d := &doctor{Examination: e, found: Diagnosis{Schema: DoctorSchema, Fit: true}}
	free, unlock := d.runner(ctx)
	defer unlock()
	if free { // what follows would disturb whoever measures
		if d.Target != nil {
			d.server(ctx)
		}
		d.client(ctx)
	}
	d.plan()
	return d.found, context.Cause(ctx)
}

func (d *doctor) add(c Check) {
	d.found.Checks = append(d.found.Checks, c)
	d.found.Fit = d.found.Fit && c.State != Fail
}

func (d *doctor) good(section, name, format string, args ...any) {
	d.add(Check{Section: section, Name: name, State: Good, Found: fmt.Sprintf(format, args...)})
}

// brief writes seconds with about three digits.
func brief(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.Round(10 * time.Microsecond).String()
}
