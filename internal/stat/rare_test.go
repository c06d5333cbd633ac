package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tally is what an interval did in a world: shares of comparisons.
type tally struct {
	worse, better float64 // equal builds called different
	covered       float64 // the true change lies in the interval
	power         float64 // a build 20 % slower is called worse
}

// method is a way to an interval.
type method func(base, head Sample, o Options) (low, high float64, err error)

var methods = map[string]method{
	"student": func(base, head Sample, o Options) (float64, float64, error) {
		p, err := prepare(base, head, o)
		i := p.student(p.o)
		return i.low, i.high, err
	},
	"specified": func(base, head Sample, o Options) (float64, float64, error) {
		c, err := specified(base, head, o)
		return c.Low, c.High, err
	},
	"mann-whitney": mannWhitney,
	"compare": func(base, head Sample, o Options) (float64, float64, error) {
		c, err := Compare(base, head, o)
		return c.Low, c.High, err
	},
}

// specified compares by means, whatever the number of runs.
func specified(base, head Sample, o Options) (Comparison, error) {
	p, err := prepare(base, head, o)
	if err != nil {
		return Comparison{}, err
	}
	return p.specified(), nil
}

// mannWhitney is the interval of the exact Mann-Whitney test around the shift of Hodges & Lehmann (1963): the k-th
// smallest and largest difference between a head and a base run.
func mannWhitney(base, head Sample, o Options) (float64, float64, error) {
	b, h := base.Sessions[0], head.Sessions[0]
	var differences []float64
	for _, x := range h {
		for _, y := range b {
			differences = append(differences, x-y)
		}
	}
	slices.Sort(differences)
	k := 0
	for sum, at := 0.0, rankSums(len(b), len(h)); ; k++ {
		if sum += at[k]; sum > 0.025 {
			break
		}
	}
	if k == 0 {
		return math.Inf(-1), math.Inf(1), nil
	}
	return differences[k-1], differences[len(differences)-k], nil
}

// rankSums is the chance of each value of Mann & Whitney's U between samples of m and n (Mann & Whitney 1947, eq. 1).
func rankSums(m, n int) []float64 {
	ways := make([][]float64, n+1) // by how many of the ranks so far are head's, and U
	for i := range ways {
		ways[i] = make([]float64, m*n+1)
	}
	ways[0][0] = 1
	for rank := range m + n {
		for taken := min(rank, n-1); taken >= 0; taken-- {
			for u := range ways[taken] {
				if below := rank - taken; below <= m && u+below <= m*n {
					ways[taken+1][u+below] += ways[taken][u]
				}
			}
		}
	}
	total := 0.0
	for _, w := range ways[n] {
		total += w
	}
	for i := range ways[n] {
		ways[n][i] /= total
	}
	return ways[n]
}

// simulate compares M pairs from a world by each of the named methods.
func simulate(t *testing.T, world string, nb, nh, repetitions int, inTurn bool, names ...string) map[string]tally {
	t.Helper()
	r := rand.New(rand.NewPCG(Seed(world, fmt.Sprint(nb, nh, inTurn), 5), 1))
	out := map[string]tally{}
	share := 1 / float64(repetitions)
	for i := range repetitions {
		base, head := worlds[world](r).sides(r, nb, nh, inTurn)
		for _, name := range names {
			low, high, err := methods[name](base, head, Options{Resamples: 999, Seed: uint64(i), SameSession: true})
			if err != nil {
				t.Fatal(err)
			}
			s := out[name]
			s.add(low, high, share)
			out[name] = s
		}
	}
	return out
}

// add counts one comparison.
func (s *tally) add(low, high, share float64) {
	switch {
	case low > 0:
		s.worse += share
	case high < 0:
		s.better += share
	default:
		s.covered += share
	}
	if low > -math.Log(1.2) { // a shift moves the interval by as much
		s.power += share
	}
}

// repetitions of a long test, or of a short one.
func repetitions(long, short int) int {
	if testing.Short() {
		return short
	}
	return long
}

// room is three standard errors of a share p.
func room(p float64, n int) float64 { return 3 * math.Sqrt(p*(1-p)/float64(n)) }

// line is one row of a table of simulated results.
func line(world, sizes string, all map[string]tally, names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |", world, sizes)
	for _, name := range names {
		s := all[name]
		fmt.Fprintf(&b, " %.2f / %.2f | %.1f | %.1f |", 100*s.worse, 100*s.better, 100*s.covered, 100*s.power)
	}
	return b.String()
}

func head(names []string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "simulated, %d comparisons a row; standard errors in points: %.2f at 2.5 %%, %.2f at 50 %%, %.2f at 95 %%\n| world | runs |",
		n, 100*room(0.025, n)/3, 100*room(0.5, n)/3, 100*room(0.95, n)/3)
	for _, name := range names {
		fmt.Fprintf(&b, " %s: called worse / better when equal, %% | covered, %% | power at +20 %%, %% |", name)
	}
	return b.String()
}

// TestRareSlowRuns measures the statistic of Compare beside those it is meant to better, and holds it to its promises. Run
// with -v it prints the table of docs/statistics.md.
func TestRareSlowRuns(t *testing.T) {
	names := []string{"student", "specified", "mann-whitney", "compare"}
	m := repetitions(6000, 100)
	t.Log(head(names, m))
	for _, world := range steady {
		for _, n := range []int{6, 8, 10} {
			if testing.Short() && (n != 8 || world == "queue") {
				continue
			}
			t.Run(fmt.Sprint(world, " ", n), func(t *testing.T) {
				t.Parallel()
				all := simulate(t, world, n, n, m, false, names...)
				t.Log(line(world, fmt.Sprint(n), all, names))
				got, student := all["compare"], all["student"]
				checkLevel(t, world, got, m)
				if world == "typical" && got.power < student.power-0.03-room(0.03, m) {
					t.Errorf("power %.3f, Student's %.3f", got.power, student.power)
				}
				if world == "quiet_outlier, many requests" && n == 8 && got.power < 0.75-room(0.75, m)/2 {
					t.Errorf("power %.3f", got.power)
				}
				if strings.HasPrefix(world, "quiet_outlier") && got.power < student.power+0.05 {
					t.Errorf("power %.3f is hardly more than Student's %.3f", got.power, student.power)
				}
			})
		}
	}
}

// TestRareSlowRunsInTurn is the same for runs in the order ABBA, with a trend in the model.
func TestRareSlowRunsInTurn(t *testing.T) {
	names := []string{"student", "specified", "compare"}
	m := repetitions(6000, 100)
	t.Log(head(names, m))
	for _, world := range slices.Concat(steady, []string{"drift", "slow"}) {
		for _, n := range []int{6, 8, 10} {
			if testing.Short() && (n != 8 || world == "queue") {
				continue
			}
			t.Run(fmt.Sprint(world, " ", n), func(t *testing.T) {
				t.Parallel()
				all := simulate(t, world, n, n, m, true, names...)
				t.Log(line(world, fmt.Sprint(n), all, names))
				checkLevel(t, world, all["compare"], m)
				if got, before := all["compare"].power, all["specified"].power; got < before-0.02-room(0.03, m) {
					t.Errorf("power %.3f, by means %.3f", got, before)
				}
			})
		}
	}
}

// checkLevel holds false calls to 2.5 % a side, and 3.5 % where one side is twice as noisy.
func checkLevel(t *testing.T, world string, s tally, n int) {
	t.Helper()
	most := 0.025
	if world == "hetero" {
		most = 0.035
	}
	for side, x := range map[string]float64{"worse": s.worse, "better": s.better} {
		if x > most+room(most, n) {
			t.Errorf("called %s in %.2f %%, want at most %.1f %%", side, 100*x, 100*most)
		}
	}
	if s.covered < 0.935-room(0.935, n) {
		t.Errorf("covered in %.1f %%", 100*s.covered)
	}
}
