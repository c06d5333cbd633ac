package stat

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// nights draws so many sessions of n runs of the base and one of the head, each session off by an effect of its day.
func (l lab) nights(r *rand.Rand, sessions, n int, day float64) (base, head Sample) {
	night := func(head bool) []float64 {
		shift, runs := day*r.NormFloat64(), make([]float64, n)
		for i := range runs {
			runs[i] = shift + l.one(r, head)
		}
		return runs
	}
	head = one(night(true))
	for range sessions {
		base.Sessions = append(base.Sessions, night(false))
	}
	return base, head
}

// falseAlarms counts how often Compare calls equal builds different at each one-sided level.
func falseAlarms(t *testing.T, world string, sessions, m int, levels []float64) (worse, better []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(Seed(world, fmt.Sprint(sessions), 6), 1))
	worse, better = make([]float64, len(levels)), make([]float64, len(levels))
	for i := range m {
		base, head := worlds[world](r).nights(r, sessions, 5, 0.05)
		for j, level := range levels {
			c, err := Compare(base, head, Options{Confidence: 1 - 2*level, Resamples: 1999, Seed: uint64(i)})
			if err != nil {
				t.Fatal(err)
			}
			if c.Low > 0 {
				worse[j] += 1 / float64(m)
			}
			if c.High < 0 {
				better[j] += 1 / float64(m)
			}
		}
	}
	return worse, better
}

// A family of ten scenarios asks each at a tenth of its level, so the interval across sessions is held to that tenth too, with
// days that differ by as much as is supposed. Estimates that mind slow runs less have to pass this before they may take the
// place of means across sessions: the candidate's five runs are all there is to say what a usual run of it is.
func TestSmallLevelsAcrossSessions(t *testing.T) {
	levels := []float64{0.025, 0.0025}
	m := repetitions(6000, 100)
	for _, world := range []string{"typical", "quiet_outlier", "quiet_outlier, many requests", "hetero"} {
		for _, sessions := range []int{5, 10} {
			t.Run(fmt.Sprintf("%s %d·5 and 5", world, sessions), func(t *testing.T) {
				t.Parallel()
				worse, better := falseAlarms(t, world, sessions, m, levels)
				for i, level := range levels {
					t.Logf("simulated, %d comparisons, days differ by 5 %%: called worse in %.2f %%, better in %.2f %%, at %.2f %%",
						m, 100*worse[i], 100*better[i], 100*level)
					if most := level + room(level, m); worse[i] > most || better[i] > most {
						t.Errorf("called worse in %.2f %%, better in %.2f %%, want at most %.2f %%", 100*worse[i], 100*better[i], 100*level)
					}
				}
			})
		}
	}
}
