package github

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	actions "github.com/sethvargo/go-githubactions"
)

// Runner is the machine that a job runs on, as far as it takes outputs, a summary, annotations and masks. It is not for
// use by several goroutines.
type Runner struct {
	getenv func(string) string
	action *actions.Action
}

// NewRunner writes its commands to stdout, which the runner reads line by line.
func NewRunner(getenv func(string) string, stdout io.Writer) *Runner {
	return &Runner{
		getenv: getenv,
		action: actions.New(actions.WithGetenv(getenv), actions.WithWriter(stdout)),
	}
}

// Mask asks the runner to hide a secret in everything that is printed from now on. Each line of it is hidden for itself;
// an empty secret asks for nothing.
func (r *Runner) Mask(secret string) {
	for line := range strings.FieldsFuncSeq(secret, func(c rune) bool { return c == '\r' || c == '\n' }) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		// A log that cannot be written shows no secret either.
		_ = caught(func() { r.action.AddMask(line) })
	}
}

// outputBytes bounds one output: GitHub takes 1 MiB for all outputs of a job.
const outputBytes = 256 << 10

var isOutput = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)

// Output sets an output of the step. A value may hold anything: it stands between two lines that nobody can foresee.
// The library's own SetOutput uses one fixed line, which a value may hold and thereby set other outputs.
func (r *Runner) Output(name, value string) error {
	switch {
	case !isOutput.MatchString(name):
		return fmt.Errorf("write output %q: not a name of an output", cut(name, 80))
	case len(value) > outputBytes:
		return fmt.Errorf("write output %q: %d bytes; an output has at most %d", name, len(value), outputBytes)
	case r.getenv("GITHUB_OUTPUT") == "":
		return fmt.Errorf("write output %q: GITHUB_OUTPUT is not set", name)
	}
	line, err := delimiter(value)
	if err != nil {
		return fmt.Errorf("write output %q: %w", name, err)
	}
	message := name + "<<" + line + "\n" + value + "\n" + line
	if err := caught(func() {
		r.action.IssueFileCommand(&actions.Command{Name: "output", Message: message})
	}); err != nil {
		return fmt.Errorf("write output %q: %w", name, err)
	}
	return nil
}

// delimiter is a random line that the value does not hold.
func delimiter(value string) (string, error) {
	for range 3 {
		var b [16]byte
		if _, err := rand.Read(b[:]); err != nil {
			return "", err
		}
		if line := "benchgate_" + hex.EncodeToString(b[:]); !strings.Contains(value, line) {
			return line, nil
		}
	}
	return "", errors.New("the value holds every delimiter that was drawn")
}

// caught runs a call of the library, which panics where a file or the log cannot be written, and returns that as an error.
func caught(call func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			cause, ok := p.(error)
			if !ok {
				panic(p)
			}
			err = cause
		}
	}()
	call()
	return nil
}

const (
	// summaryBytes is what a summary may hold in all: the runner drops the whole of one over 1 MiB, and fails the step.
	summaryBytes = 900 << 10
	// summaryLeast is what is written even into a summary that others have filled, as long as it stays below summaryMost.
	summaryLeast = 4 << 10
	summaryMost  = 1<<20 - 16<<10
)

// Summary appends to the summary of the job. It looks first at what the file holds already, and hands render the bytes
// that are left; what render returns beyond that is cut. An error means that the summary lacks it, and no more.
func (r *Runner) Summary(render func(limit int) string) error {
	path := r.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return errors.New("write summary: GITHUB_STEP_SUMMARY is not set")
	}
	held, lead, err := held(path)
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	limit := summaryBytes - held
	if limit < summaryLeast {
		limit = min(summaryLeast, summaryMost-held)
	}
	if limit -= len(lead) + 1; limit <= 0 {
		return fmt.Errorf("write summary: it holds %d bytes already, and 1 MiB is the most that it may hold", held)
	}
	text := cutBytes(render(limit), limit)
	if err := caught(func() { r.action.AddStepSummary(lead + text) }); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// held is how many bytes a summary holds, and what has to stand between them and the next text.
func held(path string) (size int, lead string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, "", err
	case !info.Mode().IsRegular():
		return 0, "", fmt.Errorf("%q is not a file", path)
	case info.Size() > 1<<30:
		return 1 << 30, "", nil
	case info.Size() == 0:
		return 0, "", nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return 0, "", err
	}
	if last[0] != '\n' {
		lead = "\n\n"
	}
	return int(info.Size()), lead, nil
}

// cutBytes is at most so many bytes of a text, and ends with a whole rune.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const mark = "…"
	if most < len(mark) {
		return ""
	}
	end := most - len(mark)
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end] + mark
}
