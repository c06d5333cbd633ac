package baseline

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Night is what one campaign of the main branch left on one runner.
type Night struct {
	// Name is that of its folder on the data branch.
	Name, Runner string
	Digests      []bench.Digest
	// Damaged says why its files cannot be read; nil where they can.
	Damaged error
}

// began is when the first session of a night began; zero where there is none.
func (n Night) began() time.Time {
	var first time.Time
	for _, d := range n.Digests {
		for _, s := range d.Sessions {
			if first.IsZero() || s.Started.Before(first) {
				first = s.Started
			}
		}
	}
	return first
}

// ended is when the last run of a night ended.
func (n Night) ended() time.Time {
	last := n.began()
	for _, d := range n.Digests {
		for _, s := range d.Sessions {
			for _, r := range s.Runs() {
				if end := r.Started.Add(time.Duration(r.Duration * float64(time.Second))); end.After(last) {
					last = end
				}
			}
		}
	}
	return last
}

// Place is what became of a night when the nights were replayed on the baselines.
type Place string

// The places of a night.
const (
	// Joined: its sessions are in the baselines now and were not before.
	Joined Place = "joined"
	// Held: the baselines held its sessions before, or a later copy of them joined.
	Held Place = "held"
	// Before: it began before the baselines' first session, at a level that a person has left behind, or so long ago that
	// it would be dropped again.
	Before Place = "before"
	// Passed: it is refused, and the baselines held a later session before: a person went on without it.
	Passed Place = "passed"
	// Refused: it is not fit to join, and nobody has decided yet.
	Refused Place = "refused"
)

// Replayed is one night after a replay. Why is the sentence of a refusal, as [Accept] says it; of a night that joined it is
// what to mind, and mostly empty.
type Replayed struct {
	Night  string    `json:"night"`
	Runner string    `json:"runner"`
	Began  time.Time `json:"began"`
	Place  Place     `json:"place"`
	Why    string    `json:"why,omitempty"`
}

// Replay adds nights to the baselines under folder, the oldest first, each as [Accept] with AddSession would: a night of a
// runner as a whole or not at all, but for scenarios that hold it already. A refused night stops none that follows. No
// state is kept: what was merged or begun anew in folder since is followed because the nights are held against that. An
// acceptance carries the time at which its night ended, not a.At, so that a replay of the same nights on the same
// baselines gives the same bytes; a.At is the present, for nights that claim to come from the future.
//
// The error is that of the folder, which then holds what had joined so far.
func Replay(folder string, nights []Night, a Acceptance) ([]Replayed, error) {
	entries, err := List(folder)
	if err != nil {
		return nil, fmt.Errorf("replay: the baselines stay as they are: %w", err)
	}
	nights = slices.Clone(nights)
	slices.SortStableFunc(nights, func(x, y Night) int {
		return cmp.Or(x.began().Compare(y.began()), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Runner, y.Runner))
	})
	r := replay{folder: folder, accept: a, before: entries, nights: nights}
	told := make([]Replayed, 0, len(nights))
	for _, n := range nights {
		one, err := r.night(n)
		if err != nil {
			return told, err
		}
		told = append(told, one)
	}
	return told, r.settle(told)
}

type replay struct {
	folder string
	accept Acceptance
	before []Entry // the baselines before the first night was added
	nights []Night // oldest first
}

// night adds one night.
func (r replay) night(n Night) (Replayed, error) {
	told := Replayed{Night: n.Name, Runner: n.Runner, Began: n.began(), Place: Refused}
	if n.Damaged != nil {
		told.Why = n.Damaged.Error()
		return told, nil
	}
	var joining []bench.Digest
	for _, d := range n.Digests {
		if k := len(d.Sessions); k != 1 {
			told.Place, told.Why = Refused, fmt.Sprintf("scenario %q of runner %q holds %d sessions, and a night is one", d.Scenario, d.Runner, k)
			return told, nil
		}
		place, err := r.place(d)
		if err != nil {
			return told, err
		}
		if place == Joined {
			joining = append(joining, d)
		} else {
			told.Place = place
		}
	}
	if len(joining) == 0 && len(n.Digests) > 0 {
		return told, nil
	}
	a := r.accept
	a.AddSession = true
	if end := n.ended(); !end.IsZero() && end.Before(a.At) {
		a.At = end
	}
	if _, err := Accept(r.folder, joining, a); err != nil {
		told.Place, told.Why = Refused, err.Error()
		return told, nil
	}
	told.Place = Joined
	return told, nil
}

// place is Joined for a digest that is to be added, else why it is not.
func (r replay) place(d bench.Digest) (Place, error) {
	e, err := Show(r.folder, d.Runner, d.Scenario)
	fresh := errors.Is(err, fs.ErrNotExist)
	switch {
	case fresh && d.Last().Before(r.firstOf(d)):
		return Before, nil
	case fresh:
		return Joined, nil
	case err != nil:
		return "", fmt.Errorf("replay: %w", err)
	case holdsAll(e.Digest, d):
		return Held, nil
	case d.Last().Before(e.Digest.Sessions[0].Started):
		return Before, nil
	}
	return Joined, nil
}

// firstOf is where a scenario without a baseline begins: with the tenth night from the end that measured it.
func (r replay) firstOf(d bench.Digest) time.Time {
	var starts []time.Time
	for _, n := range r.nights {
		for _, other := range n.Digests {
			if other.Runner == d.Runner && other.Scenario == d.Scenario {
				starts = append(starts, other.Last())
			}
		}
	}
	return starts[max(0, len(starts)-bench.MostSessions)]
}

// settle looks again at the nights that were refused: a later copy may have joined, or a person have gone on without them.
func (r replay) settle(told []Replayed) error {
	after, err := List(r.folder)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	for i, n := range r.nights {
		switch {
		case told[i].Place == Joined:
			told[i].Why = n.tooSoon(after)
		case told[i].Place != Refused:
		case n.all(after, holdsAll):
			told[i].Place, told[i].Why = Held, ""
		case n.all(r.before, func(base, head bench.Digest) bool { return base.Last().After(head.Last()) }):
			told[i].Place = Passed
		}
	}
	return nil
}

// tooSoon says that a night that joined began within hours of another one; "" where it did not.
func (n Night) tooSoon(after []Entry) string {
	for _, e := range after {
		for i, s := range e.Digest.Sessions {
			why, soon := SameDay(e.Digest, i)
			if soon && slices.ContainsFunc(n.Digests, func(d bench.Digest) bool {
				return d.Runner == e.Runner && d.Scenario == e.Scenario && slices.ContainsFunc(d.Sessions, func(x bench.Session) bool { return x.ID == s.ID })
			}) {
				return why
			}
		}
	}
	return ""
}

// all reports whether something is true of each digest of a night and its baseline. It is not where there is none.
func (n Night) all(entries []Entry, is func(base, head bench.Digest) bool) bool {
	for _, d := range n.Digests {
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Runner == d.Runner && e.Scenario == d.Scenario })
		if i < 0 || !is(entries[i].Digest, d) {
			return false
		}
	}
	return len(n.Digests) > 0
}

// holdsAll reports whether a baseline has every session of a candidate.
func holdsAll(base, head bench.Digest) bool {
	for _, s := range head.Sessions {
		if !slices.ContainsFunc(base.Sessions, func(o bench.Session) bool { return o.ID == s.ID }) {
			return false
		}
	}
	return true
}
