package campaign

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/host"
)

// Options say what to measure and where to keep it.
type Options struct {
	Plan Plan
	// State is the folder that holds campaigns while they grow; the campaign lives in State/Key.
	State, Key string
	// Fresh sets an earlier campaign of the same key aside instead of continuing it. Unknown does so only when it is
	// complete: where nothing says which build is under test, a finished campaign cannot be taken for this one's.
	Fresh, Unknown bool
	// Commit and Tool are recorded; ID names the session and salts its prompts.
	Commit, Tool, ID string
	APIKey           string
	// ReferenceKey is the API key of the reference, ReferenceCommit the commit that it was built from; "" where unknown.
	// ReferenceCheckout is the same where it is that of a checkout which is the reference's alone, else "".
	ReferenceKey, ReferenceCommit, ReferenceCheckout string
	Host                                             host.Facts
	// Texts are calibrations of an earlier campaign, by scenario: both sides of a comparison send the same text.
	Texts    map[string]bench.Calibration
	KeepText bool
	// Stage1 names, after the committed part of a confirm campaign, the scenarios that need the second stage; nil: all do.
	// Head is the candidate's digests. Scenarios without a baseline are measured in the second stage alone.
	Stage1 func(head []bench.Digest) []string
	// Look names, after the visits of one look, the scenarios that a further look could still decide; nil: all of them.
	// It is given all that was measured of both sides.
	Look func(reference, head []bench.Digest) []string
	// Lock names what two campaigns must not share; "" is the device of Host. LockTimeout is how long it is waited for; 0 is
	// as long as it takes.
	Lock        string
	LockTimeout time.Duration
	// Dial opens connections to the server under test; nil is the network. A server in memory has its self-test there too,
	// and waits for no device but the one that Lock names.
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Progress func(Progress) // may be nil
	Say      func(string)   // may be nil: one line of talk
	Now      func() time.Time
}

// Progress is where a campaign stands.
type Progress struct {
	Scenario string
	// Side is "candidate" or "reference" where both are measured in turn; empty elsewhere.
	Side     string
	WarmUp   bool
	Run, Of  int // of this scenario, from 1; of a side measured in turn, at most Of
	Done     int // requests of this run that ended
	Requests int
}

// Result is what a campaign left behind.
type Result struct {
	Log    bench.CampaignLog
	Folder string
	// Measured counts the runs that this call added; 0 means that nothing was missing.
	Measured int
	// Continued says that an earlier campaign of the same key was found.
	Continued bool
}

// A ServerError means that the server under test could not be measured: it did not start, died, or refused to answer as
// asked. What was measured before it is on disk.
type ServerError struct {
	Doing string // what was being done
	Err   error
	// LastWords are the last lines of the server's log, when it is ours.
	LastWords string
	Hint      string
}

func (e *ServerError) Error() string { return e.Doing + ": " + e.Err.Error() }

func (e *ServerError) Unwrap() error { return e.Err }

// Run measures what a campaign still lacks. Whatever the error, the Result holds all that is on disk.
func Run(ctx context.Context, o Options) (Result, error) {
	folder := filepath.Join(o.State, o.Key)
	j, err := openJournal(folder)
	if err != nil {
		return Result{Folder: folder}, err
	}
	p := newProtocol(j, o)
	if o.Fresh || o.Unknown && p.finished() {
		j.forget()
		p = newProtocol(j, o)
	}
	before := len(j.log.Runs)
	res := Result{Folder: folder, Continued: j.log.Header.Schema != ""}
	if !p.finished() {
		if res.Continued {
			o.say("continuing the campaign that began %s (--fresh starts anew)", j.log.Header.Started.Format(time.RFC3339))
		}
		err = p.within(ctx)
	}
	if err == nil {
		err = p.complete()
	}
	err = errors.Join(err, j.close())
	res.Log = j.log
	for _, r := range j.log.Runs[before:] {
		if !r.WarmUp {
			res.Measured++
		}
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return res, err
}

func (o Options) say(format string, args ...any) {
	if o.Say != nil {
		o.Say(fmt.Sprintf(format, args...))
	}
}

func (o Options) progress(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}
