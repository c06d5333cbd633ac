package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// inputs are those of action.yml.
type inputs struct {
	mode                   string // plan, run, judge or keep
	config                 string
	configRef, baselineRef string // empty: the base that the event names
	results, out           string
	scenarios              []string // empty: all
	upstream               []string // results of the jobs before this one; empty: not asked
	comment                string   // auto, always or never
	commentKey             string
	status                 bool
	token, api             string
	lock                   string
	lockTimeout            time.Duration
}

// jobResults are what GitHub says of a job that others need.
var jobResults = []string{"success", "failure", "cancelled", "skipped"}

// envOf is the variable that holds an input.
func envOf(input string) string {
	return "BENCHGATE_" + strings.ToUpper(strings.ReplaceAll(input, "-", "_"))
}

// readInputs reads them strictly: a word that is not known is never taken for another.
func readInputs(getenv func(string) string) (inputs, error) {
	r := inputReader{getenv: getenv}
	in := inputs{
		mode:        r.word("mode", "", "plan", "run", "judge", "keep"),
		config:      r.text("config", "benchgate.yaml"),
		configRef:   r.text("config-ref", ""),
		baselineRef: r.text("baseline-ref", ""),
		results:     r.text("results", "benchgate-out"),
		out:         r.text("out", "benchgate-out"),
		scenarios:   r.list("scenarios"),
		upstream:    r.list("upstream-result"),
		comment:     r.word("comment", "auto", "auto", "always", "never"),
		commentKey:  r.text("comment-key", ""),
		status:      r.boolean("status"),
		token:       r.text("token", ""),
		api:         r.text("api-url", ""),
		lock:        r.text("lock", ""),
		lockTimeout: r.duration("lock-timeout", time.Hour),
	}
	for _, s := range in.scenarios {
		if err := bench.CheckName("scenario", s); err != nil {
			r.fail("scenarios", s, "names, separated by commas")
		}
	}
	for _, s := range in.upstream {
		if !slices.Contains(jobResults, s) {
			r.fail("upstream-result", s, "what needs.JOB.result says: "+strings.Join(jobResults, ", ")+"; several are separated by commas")
		}
	}
	if r.err == nil && in.mode == "run" && in.token != "" {
		r.err = withHint(fmt.Errorf("mode run takes no token: %s is set, and the code under test runs beside it", envOf("token")),
			"give the token to the step that judges, and to no other")
	}
	return in, r.err
}

// inputReader keeps the first mistake.
type inputReader struct {
	getenv func(string) string
	err    error
}

func (r *inputReader) fail(input, got, want string) {
	if r.err == nil {
		r.err = withHint(fmt.Errorf("input %s is %.80q", input, got), "it takes %s", want)
	}
}

func (r *inputReader) text(input, otherwise string) string {
	if s := strings.TrimSpace(r.getenv(envOf(input))); s != "" {
		return s
	}
	return otherwise
}

func (r *inputReader) word(input, otherwise string, known ...string) string {
	s := r.text(input, otherwise)
	if !slices.Contains(known, s) {
		r.fail(input, s, "one of "+strings.Join(known, ", "))
	}
	return s
}

// boolean reads a truth value as GitHub's own actions do; it is false unless set. One that cannot be read asks for something:
// what an error has to take back is taken back.
func (r *inputReader) boolean(input string) bool {
	switch s := r.text(input, "false"); s {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
	default:
		r.fail(input, s, "true or false")
		return true
	}
	return false
}

func (r *inputReader) list(input string) []string {
	s := r.text(input, "")
	if s == "" {
		return nil
	}
	var all []string
	for one := range strings.SplitSeq(s, ",") {
		if one = strings.TrimSpace(one); one == "" {
			r.fail(input, s, "a list without empty places")
		}
		all = append(all, one)
	}
	return all
}

func (r *inputReader) duration(input string, otherwise time.Duration) time.Duration {
	s := r.text(input, "")
	if s == "" {
		return otherwise
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		r.fail(input, s, "a time with its unit, such as 60m")
	}
	return d
}
