package bench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// maxCount bounds every count in a file. It keeps arithmetic safe, and rounding to 10 digits leaves such counts as they are.
const maxCount = 1_000_000_000

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// CheckName refuses what may not name a runner or a scenario. Such names become parts of paths.
func CheckName(what, name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%s name %s: want 1 to 40 of a-z, 0-9 and -, not beginning with -", what, shorten(name))
	}
	return nil
}

// CheckRun refuses a run that cannot have been measured: counts that do not add up, and numbers that are not finite, are
// negative, or are zero where only a failed request has a zero. It does not judge whether the run is valid.
func CheckRun(r Run) error {
	if err := checkCounts(r); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		if err := checkMetric(r, name); err != nil {
			return err
		}
	}
	if err := r.Server.check(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if err := r.Pace.check(); err != nil {
		return fmt.Errorf("pace: %w", err)
	}
	buffered := orZero(r.Buffered)
	if buffered > 1 {
		return fmt.Errorf("buffered is %v: a share is at most 1", buffered)
	}
	return notNegative(append(r.Client.numbers(),
		number{"duration", r.Duration}, number{"input_tokens", r.InputTokens}, number{"output_tokens", r.OutputTokens},
		number{"cached_tokens", orZero(r.CachedTokens)}, number{"chunks", r.Chunks}, number{"buffered", buffered},
	)...)
}

func checkCounts(r Run) error {
	failed := 0
	for _, class := range slices.Sorted(maps.Keys(r.Failed)) {
		n := r.Failed[class]
		if class == OK || class == "" || n < 0 || n > maxCount {
			return fmt.Errorf("failed: %d of class %s", n, shorten(string(class)))
		}
		failed += n
	}
	for class := range r.FirstErrors {
		if r.Failed[class] == 0 {
			return fmt.Errorf("first_errors: %s, of which none failed", shorten(string(class)))
		}
	}
	switch {
	case r.Order < 0 || r.Order > maxCount:
		return fmt.Errorf("order %d is out of range", r.Order)
	case r.Sent < 0 || r.OK < 0 || r.Sent > maxCount:
		return fmt.Errorf("sent %d, ok %d: not counts", r.Sent, r.OK)
	case r.OK+failed != r.Sent:
		return fmt.Errorf("sent %d, but ok %d and failed %d", r.Sent, r.OK, failed)
	case r.Good != nil && (*r.Good < 0 || *r.Good > r.OK):
		return fmt.Errorf("good %d of ok %d", *r.Good, r.OK)
	}
	return nil
}

var metricPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}\.[a-z][a-z0-9.]{0,19}$`)

// checkMetric takes names that this program does not know: a newer one may have written them, and no rule can name them.
func checkMetric(r Run, name string) error {
	if !metricPattern.MatchString(name) {
		return fmt.Errorf("metric name %s: want what.statistic", shorten(name))
	}
	v := r.Metrics[name]
	if err := notNegative(number{name, v}); err != nil {
		return err
	}
	what, _, _ := strings.Cut(name, ".")
	switch {
	case strings.HasSuffix(name, ".ratio"):
		if v > 1 {
			return fmt.Errorf("%s is %v: a share is at most 1", name, v)
		}
	case r.OK == 0 && v != 0:
		return fmt.Errorf("%s is %v, but no request succeeded", name, v)
	case v == 0 && slices.Contains([]string{"ttft", "ttfot", "e2el", "ttft_sched", "e2el_sched"}, what):
		return fmt.Errorf("%s is 0: no answer comes in no time; a failed request has no latency", name)
	}
	return nil
}

type number struct {
	name  string
	value float64
}

func notNegative(numbers ...number) error {
	for _, n := range numbers {
		if math.IsNaN(n.value) || math.IsInf(n.value, 0) {
			return fmt.Errorf("%s is %v: not a measurement", n.name, n.value)
		}
		if n.value < 0 {
			return fmt.Errorf("%s is %v: negative", n.name, n.value)
		}
	}
	return nil
}

// checkDigest says what is wrong with a digest, with the session and the run.
func checkDigest(d Digest) error {
	if err := CheckName("runner", d.Runner); err != nil {
		return err
	}
	if err := CheckName("scenario", d.Scenario); err != nil {
		return err
	}
	if d.Epoch.Number < 0 || d.Epoch.Number > maxCount {
		return fmt.Errorf("epoch %d is out of range", d.Epoch.Number)
	}
	if err := checkLevel(d.Epoch.Level); err != nil {
		return fmt.Errorf("level of the epoch: %w", err)
	}
	if err := checkNoise(d.Noise); err != nil {
		return fmt.Errorf("noise: %w", err)
	}
	if err := checkSLO(d.SLO); err != nil {
		return err
	}
	if err := notNegative(number{"tokens_per_word", d.Text.TokensPerWord}, number{"overhead", d.Text.Overhead}); err != nil {
		return fmt.Errorf("text: %w", err)
	}
	if d.Sessions == nil {
		return errors.New("no sessions")
	}
	ids := map[string]bool{}
	for i, s := range d.Sessions {
		if ids[s.ID] {
			return fmt.Errorf("session %s stands twice", shorten(s.ID))
		}
		ids[s.ID] = true
		if err := checkSession(s); err != nil {
			return fmt.Errorf("session %d (%s): %w", i+1, shorten(s.ID), err)
		}
	}
	return nil
}

func checkSLO(s SLO) error {
	for name, limit := range map[string]*float64{"ttft": s.TTFT, "tpot": s.TPOT, "e2el": s.E2EL} {
		if limit == nil {
			continue
		}
		if err := notNegative(number{name, *limit}); err != nil {
			return fmt.Errorf("slo: %w", err)
		}
	}
	return nil
}

// MostVisits bounds the visits a side at which a campaign may plan to look, MostLooks how often: the work of computing their
// levels, and how many resamples these ask for. Nobody plans so many.
const (
	MostVisits = 100
	MostLooks  = 20
)

func checkLooks(looks []int) error {
	before := 0
	for _, n := range looks {
		if n <= before || n > MostVisits {
			return fmt.Errorf("looks %v: want numbers up to %d that rise", looks, MostVisits)
		}
		before = n
	}
	return nil
}

func checkSession(s Session) error {
	if s.ID == "" || len(s.ID) > 200 {
		return errors.New("an id of 1 to 200 bytes is needed")
	}
	if s.Started.IsZero() {
		return errors.New("no start time")
	}
	if err := checkLooks(s.Looks); err != nil {
		return err
	}
	visits, orders := map[int]bool{}, map[int]bool{}
	for _, v := range s.Visits {
		if v.Number < 0 || v.Number > maxCount || visits[v.Number] {
			return fmt.Errorf("visit %d stands twice or is out of range", v.Number)
		}
		visits[v.Number] = true
		for _, r := range v.Runs {
			if r.Order < 1 {
				return fmt.Errorf("visit %d: run %d: runs are counted from 1", v.Number, r.Order)
			}
			if orders[r.Order] {
				return fmt.Errorf("visit %d: run %d stands twice", v.Number, r.Order)
			}
			orders[r.Order] = true
			if err := CheckRun(r); err != nil {
				return fmt.Errorf("visit %d: run %d: %w", v.Number, r.Order, err)
			}
		}
	}
	return nil
}
