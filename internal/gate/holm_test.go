package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/stat"
)

// asked is a question of which only the p value and the look matter.
func asked(looks []int, look int, p, pLess float64) *question {
	return &question{
		pair: &pair{course: course{looks: looks, look: look}}, rule: Rule{Tolerance: ptr(0.05)},
		comparison: &comparison{Comparison: stat.Comparison{P: p, PLess: pLess}},
	}
}

// The other implementation rejects by the graphical procedure and has its levels from scipy; see testdata/looks.py.
func TestFamilyAgreesWithAnotherImplementation(t *testing.T) {
	var oracle struct {
		Alpha float64
		Cases []struct {
			Looks    []int
			Levels   map[string][]float64
			P        [][]*float64
			Rejected []int
			Adjusted [][]*float64
		}
	}
	data, err := os.ReadFile("testdata/looks.json")
	if err == nil {
		err = json.Unmarshal(data, &oracle)
	}
	if err != nil || len(oracle.Cases) != 60 {
		t.Fatalf("%d cases: %v", len(oracle.Cases), err)
	}
	for n, c := range oracle.Cases {
		for d := range directions {
			l := &levels{oracle.Alpha, map[string][]float64{}}
			for parts, at := range c.Levels {
				if len(c.Looks) > 1 {
					l.known[fmt.Sprintf("%v %s", c.Looks, parts)] = at
				}
			}
			f := &family{levels: l, size: len(c.P[0])}
			last := make([]*question, len(c.P[0]))
			for look, row := range c.P {
				var open []*question
				for i, p := range row {
					if p == nil {
						last[i] = nil
						continue
					}
					q := asked(c.Looks, look, *p, 1-*p)
					if d == better {
						q.comparison.P, q.comparison.PLess = 1-*p, *p
					}
					if last[i] != nil {
						q.rejected = last[i].rejected
					}
					last[i] = q
					open = append(open, q)
				}
				f.adjust(open)
				for i, want := range c.Adjusted[look] {
					if want == nil {
						continue
					}
					if got := last[i].comparison.holm[d]; math.Abs(got-*want) > 1e-9 {
						t.Errorf("case %d, look %d, hypothesis %d: adjusted p %v, want %v", n, look+1, i, got, *want)
					}
					if rejected := last[i].rejected[d] != nil; rejected != (c.Rejected[i] > 0 && c.Rejected[i] <= look+1) {
						t.Errorf("case %d, look %d, hypothesis %d: rejected %v, want at look %d", n, look+1, i, rejected, c.Rejected[i])
					}
				}
			}
		}
	}
}

// The levels that the gate computes are those of the other implementation, but for the half step of the published table.
func TestLevelsOfAFamilyAreOnTheSafeSide(t *testing.T) {
	exact := map[int][]float64{
		1: {0.00899999999433741, 0.011917958876146911, 0.0176244059478449},
		2: {0.004499999999730767, 0.005724320003191957, 0.008352741358360298},
		4: {0.0022499999988828063, 0.002759913107306131, 0.003981082004569248},
	}
	for parts, want := range exact {
		l := newFamilies(0.025)
		for look, level := range want {
			got := l.alpha / l.weight(course{looks: three, look: look}, parts)
			if got > level*1.000001 || got < level*0.98 {
				t.Errorf("look %d of %v among %d: level %v, exact %v", look+1, three, parts, got, level)
			}
		}
	}
}

func TestOneLookIsHolmsOwnProcedure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.Float64Range(0, 0.2), 1, 12).Draw(t, "p")
		f := newFamilies(0.025).others
		var open []*question
		for _, p := range ps {
			open = append(open, asked(nil, 0, p, 1-p))
		}
		f.enter(open)
		f.adjust(append([]*question{}, open...))
		for i, want := range stat.Holm(ps) {
			if got := open[i].comparison.holm[worse]; math.Abs(got-want) > 1e-9 {
				t.Fatalf("p %v of %v: adjusted %v, want %v", ps[i], ps, got, want)
			}
		}
	})
}
