package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gofrs/flock"

	"github.com/benchgate/benchgate/internal/bench"
)

// Limits of a baseline.
const (
	leastRuns  = 3
	mostVoid   = 0.20 // share of a session's runs
	lockWithin = 10 * time.Second
	// clocksApart is how far after its acceptance a session may seem to have begun: tools write local times without a zone.
	clocksApart = 24 * time.Hour
)

// Acceptance says who accepts, why, and how the new session stands to those before it.
type Acceptance struct {
	// Who accepts; needed. Why may be empty. Commit and Engine are what was measured; where they are empty, the
	// session's own account of what was under test stands instead.
	Who, Why, Commit, Engine string
	// At is the time of the acceptance; needed.
	At time.Time
	// AddSession adds to a baseline; NewEpoch starts anew at another level and needs a Reason. With neither, only a first
	// baseline can be accepted.
	AddSession, NewEpoch bool
	Reason               string
	// Differs says whether a session stands at another level than the baseline, and how; nil looks at nothing.
	Differs func(base, head bench.Digest) (string, bool)
}

// Accept makes candidates baselines under folder and returns the files it wrote. It refuses an invalid campaign, an
// incomparable one, and one at another level than the sessions before it, each with what to do. All candidates are
// checked before the first file is touched, and a failed write puts back what was there.
func Accept(folder string, head []bench.Digest, a Acceptance) ([]string, error) {
	for _, text := range []*string{&a.Who, &a.Why, &a.Commit, &a.Engine, &a.Reason} {
		*text = oneLine(*text)
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	if len(head) == 0 {
		return nil, errors.New("nothing to accept: no scenario was measured")
	}
	for _, d := range head {
		if err := acceptable(d); err != nil {
			return nil, fmt.Errorf("scenario %q of runner %q cannot be a baseline: %w", d.Scenario, d.Runner, err)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	unlock, err := lock(folder)
	if err != nil {
		return nil, err
	}
	defer unlock()
	files := map[string][]byte{}
	for _, d := range head {
		name := filepath.Join(folder, d.Runner, d.Scenario+".json")
		if _, ok := files[name]; ok {
			return nil, fmt.Errorf("scenario %q of runner %q is there twice", d.Scenario, d.Runner)
		}
		data, err := a.grown(name, d)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return writeAll(files)
}

func (a Acceptance) check() error {
	switch {
	case a.Who == "":
		return errors.New("who accepts is not known; say it with --who")
	case a.At.IsZero():
		return errors.New("the time of the acceptance is not known")
	case a.AddSession && a.NewEpoch:
		return errors.New("--add-session and --new-epoch exclude each other")
	case a.NewEpoch && a.Reason == "":
		return errors.New("--new-epoch needs --reason: it is kept beside the numbers")
	}
	return nil
}

// oneLine makes a text fit for a list on a terminal: one line, no control characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.Join(strings.Fields(s), " ")
}

// grown is what a file will hold once a candidate is accepted.
func (a Acceptance) grown(name string, head bench.Digest) ([]byte, error) {
	if err := a.past(head.Sessions); err != nil {
		return nil, fmt.Errorf("scenario %q of runner %q cannot be a baseline: %w", head.Scenario, head.Runner, err)
	}
	next := head
	next.Sessions = newest(a.signed(head.Sessions))
	next.Epoch = a.epoch(0, head)
	old, err := onDisk(name).read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("the baseline that is there stays as it is: %w", err)
	case a.NewEpoch:
		next.Epoch = a.epoch(old.Epoch.Number+1, head)
		next.Noise = inherit(old, head)
	case a.AddSession:
		if err := a.joins(old, head); err != nil {
			return nil, fmt.Errorf("scenario %q of runner %q cannot join its baseline: %w", head.Scenario, head.Runner, err)
		}
		old.Epoch.Level = old.EpochLevel() // before the session that it may come from is dropped
		old.Sessions = newest(append(old.Sessions, next.Sessions...))
		old.Noise = inherit(old, head)
		next = old
	default:
		return nil, fmt.Errorf("%q holds a baseline already; add this campaign to it with --add-session, or start anew with --new-epoch --reason TEXT", name)
	}
	var b bytes.Buffer
	err = bench.WriteDigest(&b, next)
	return b.Bytes(), err
}

// epoch begins at the level of the oldest session of a candidate. Its reason is that of a change of level: the first epoch
// has none unless one was asked for.
func (a Acceptance) epoch(number int, head bench.Digest) bench.Epoch {
	e := bench.Epoch{Number: number, Started: a.At, Who: a.Who}
	if a.NewEpoch {
		e.Reason = a.Reason
	}
	oldest := slices.MinFunc(head.Sessions, func(x, y bench.Session) int { return x.Started.Compare(y.Started) })
	e.Level = oldest.Level()
	return e
}

// past refuses a session that began after it was accepted: it would be the newest for good.
func (a Acceptance) past(sessions []bench.Session) error {
	for _, s := range sessions {
		if s.Started.After(a.At.Add(clocksApart)) {
			return fmt.Errorf("session %q began %s, and now it is %s; set the clock that is wrong, then measure again", s.ID,
				s.Started.UTC().Format(time.DateTime), a.At.UTC().Format(time.DateTime))
		}
	}
	return nil
}

// signed copies sessions and puts the record of this acceptance on each.
func (a Acceptance) signed(sessions []bench.Session) []bench.Session {
	sessions = slices.Clone(sessions)
	for i := range sessions {
		sessions[i].Origin = a.origin(sessions[i])
	}
	return sessions
}

func (a Acceptance) origin(s bench.Session) bench.Origin {
	o := bench.Origin{Commit: a.Commit, Engine: a.Engine, Who: a.Who, Why: a.Why, Accepted: a.At}
	if o.Commit == "" {
		o.Commit = s.UnderTest[bench.KeyCommit]
	}
	if o.Engine == "" {
		o.Engine = strings.TrimSpace(s.UnderTest[bench.KeyEngine] + " " + s.UnderTest[bench.KeyVersion])
	}
	return o
}

// joins says why a candidate may not stand beside the sessions of a baseline.
func (a Acceptance) joins(old, head bench.Digest) error {
	if c := bench.Compare(old, head); len(c.Incomparable) > 0 {
		var facts []string
		for _, f := range c.Incomparable {
			facts = append(facts, fmt.Sprintf("%s is %q, was %q", f.Name, f.Head, f.Base))
		}
		return fmt.Errorf("it is not comparable: %s; %s", strings.Join(facts, ", "), anew)
	}
	if !sameSLO(old.SLO, head.SLO) {
		return fmt.Errorf("its SLO is another one, and its goodput was counted against it; %s", anew)
	}
	for _, s := range head.Sessions {
		if slices.ContainsFunc(old.Sessions, func(o bench.Session) bool { return o.ID == s.ID }) {
			return fmt.Errorf("session %q was accepted already", s.ID)
		}
		if len(old.Sessions) >= bench.MostSessions && s.Started.Before(old.Sessions[0].Started) {
			return fmt.Errorf("session %q is older than the %d that are kept, so it would change nothing", s.ID, bench.MostSessions)
		}
	}
	if err := repeated(old.Sessions, head.Sessions); err != nil {
		return err
	}
	if a.Differs == nil {
		return nil
	}
	if how, differs := a.Differs(old, head); differs {
		return fmt.Errorf("its level differs: %s; %s", how, anew)
	}
	return nil
}

const anew = "start anew with --new-epoch --reason TEXT if that is intended"

func sameSLO(a, b bench.SLO) bool {
	same := func(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	return same(a.TTFT, b.TTFT) && same(a.TPOT, b.TPOT) && same(a.E2EL, b.E2EL)
}

// newest keeps the last ten sessions, oldest first.
func newest(sessions []bench.Session) []bench.Session {
	slices.SortStableFunc(sessions, func(a, b bench.Session) int { return a.Started.Compare(b.Started) })
	return sessions[max(0, len(sessions)-bench.MostSessions):]
}

// acceptable says why a candidate is not fit to be a baseline.
func acceptable(d bench.Digest) error {
	if err := bench.CheckName("runner", d.Runner); err != nil {
		return err
	}
	if err := bench.CheckName("scenario", d.Scenario); err != nil {
		return err
	}
	if len(d.Sessions) == 0 {
		return errors.New("it holds no session")
	}
	for _, s := range d.Sessions {
		if err := sound(s); err != nil {
			return err
		}
	}
	return repeated(nil, d.Sessions)
}

// sound says why a session cannot stand in a baseline.
func sound(s bench.Session) error {
	valid, void := 0, 0
	for _, r := range s.Runs() {
		switch {
		case !r.Valid():
			void++
			continue
		case r.Invalid != "":
			return fmt.Errorf("run %d is invalid: %s", r.Order, r.Invalid)
		case r.OK == 0:
			return fmt.Errorf("run %d: all %d requests failed", r.Order, r.Sent)
		}
		valid++
	}
	if float64(void) > mostVoid*float64(valid+void) {
		return fmt.Errorf("%d of %d runs were void; measure again on a quieter machine", void, valid+void)
	}
	if valid < s.Planned {
		return fmt.Errorf("%d of %d planned runs are measured; run the same benchgate run again to finish it", valid, s.Planned)
	}
	if valid < leastRuns {
		return fmt.Errorf("%d valid runs, and at least %d are needed", valid, leastRuns)
	}
	return nil
}

// lock keeps other writers out of a folder. The lock is on the folder itself, so it leaves no file for git to see.
func lock(folder string) (unlock func(), _ error) {
	l := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	ok, err := l.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("lock %q: %w", folder, err)
	}
	if !ok {
		return nil, fmt.Errorf("lock %q: another benchgate is writing there", folder)
	}
	return func() { _ = l.Unlock() }, nil // closing the folder releases it in any case
}
