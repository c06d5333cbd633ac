package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// MostSessions is how many sessions a baseline keeps: the newest.
const MostSessions = 10

// Level is where a session stands: for every metric that all its sound runs have, their geometric mean; for a ratio their
// plain mean. Void and invalid runs are left out. A metric that is 0 in some run has no place on a scale of ratios and so
// no level. The result is empty, never nil, where nothing was measured.
func (s Session) Level() map[string]float64 {
	var runs []Run
	for _, r := range s.Runs() {
		if r.Sound() {
			runs = append(runs, r)
		}
	}
	level := map[string]float64{}
	if len(runs) == 0 {
		return level
	}
	for name := range runs[0].Metrics {
		if v, ok := levelOf(runs, name); ok {
			level[name] = v
		}
	}
	return level
}

func levelOf(runs []Run, name string) (level float64, ok bool) {
	share := strings.HasSuffix(name, ".ratio")
	sum := 0.0
	for _, r := range runs {
		v, known := r.Metrics[name]
		switch {
		case !known, !share && !(v > 0), math.IsInf(v, 0), math.IsNaN(v):
			return 0, false
		case share:
			sum += v
		default:
			sum += math.Log(v)
		}
	}
	sum /= float64(len(runs))
	if share {
		return sum, true
	}
	level = math.Exp(sum)
	return level, level > 0 && !math.IsInf(level, 1)
}

// First is the session with which the epoch of a baseline began; nil when it is no longer kept, or when nobody can say.
// With fewer sessions than a baseline keeps none was dropped, so it is the oldest. In a full baseline it is known by its
// acceptance, with which the epoch began.
func (d Digest) First() *Session {
	if len(d.Sessions) == 0 {
		return nil
	}
	sessions := slices.Clone(d.Sessions)
	slices.SortStableFunc(sessions, func(a, b Session) int { return a.Started.Compare(b.Started) })
	if len(sessions) < MostSessions {
		return &sessions[0]
	}
	for i, s := range sessions {
		if !d.Epoch.Started.IsZero() && s.Origin.Accepted.Equal(d.Epoch.Started) {
			return &sessions[i]
		}
	}
	return nil
}

// EpochLevel is where the epoch of a baseline began: what its file says, or else, for a file from before it was recorded,
// the level of the epoch's first session while that is kept. Nil: not known.
func (d Digest) EpochLevel() map[string]float64 {
	if len(d.Epoch.Level) > 0 {
		return d.Epoch.Level
	}
	if first := d.First(); first != nil {
		if level := first.Level(); len(level) > 0 {
			return level
		}
	}
	return nil
}

// checkLevel refuses a level that cannot have been measured.
func checkLevel(level map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(level)) {
		v := level[name]
		if !metricPattern.MatchString(name) {
			return fmt.Errorf("metric name %s: want what.statistic", shorten(name))
		}
		if err := notNegative(number{name, v}); err != nil {
			return err
		}
		switch share := strings.HasSuffix(name, ".ratio"); {
		case share && v > 1:
			return fmt.Errorf("%s is %v: a share is at most 1", name, v)
		case !share && v == 0:
			return fmt.Errorf("%s is 0: no level", name)
		}
	}
	return nil
}
