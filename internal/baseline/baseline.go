// Package baseline keeps accepted digests.
package baseline

import (
	"errors"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

var errLater = errors.New("not written yet")

// Source says where digests were read from.
type Source struct {
	Kind  string   // "file", "folder" or "ref"
	Ref   string   // the path, or the commit as 40 hex digits
	Files []string // what was read
}

// Read reads the baseline of a runner.
func Read(spec, runner string) ([]bench.Digest, Source, error) { return nil, Source{}, errLater }

// Acceptance is the record of a decision to accept.
type Acceptance struct {
	Who, Why, Commit, Engine string
	At                       time.Time
	AddSession, NewEpoch     bool
	Reason                   string
	Differs                  func(base, head bench.Digest) (string, bool)
}

// Accept puts candidates under folder.
func Accept(folder string, head []bench.Digest, a Acceptance) ([]string, error) { return nil, errLater }

// Entry is one baseline in a list.
type Entry struct {
	Runner, Scenario, File string
	Digest                 bench.Digest
}

// List lists the baselines under folder.
func List(folder string) ([]Entry, error) { return nil, errLater }

// Show reads one baseline.
func Show(folder, runner, scenario string) (Entry, error) { return Entry{}, errLater }

// Problem is what is wrong with a file.
type Problem struct{ File, What string }

// Verify reads every file under folder.
func Verify(folder string) ([]Problem, error) { return nil, errLater }

// Remove deletes one baseline.
func Remove(folder, runner, scenario string) error { return errLater }
