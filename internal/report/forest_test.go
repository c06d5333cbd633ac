package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/gate"
)

// treesFor draws on the axis of one finding.
func treesFor(low, worse, high float64) trees {
	f := gate.Finding{Change: &gate.Change{Worse: worse, WorseLow: low, WorseHigh: high}}
	return trees{painter(forestWide, 100), axisOf([]gate.Finding{f})}
}

func TestAxisLabelsKeepTheirDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-0.9, 9).Draw(t, "low")
		high := rapid.Float64Range(low, 12).Draw(t, "high")
		ticks := treesFor(low, low, high).ticks()
		if len(ticks) < 2 || ticks[0].worse != 0 {
			t.Fatalf("ticks %v: no change and one more are wanted", ticks)
		}
		slices.SortFunc(ticks, func(a, b tick) int { return a.x - b.x })
		for i, next := range ticks[1:] {
			if gap := next.from - ticks[i].to; gap < labelGap {
				t.Errorf("%q and %q are %d apart", ticks[i].label, next.label, gap)
			}
		}
	})
}

func TestAWideAxisHasFewerLabels(t *testing.T) {
	var labels []string
	for _, tick := range treesFor(-0.64, 1.99, 2.69).ticks() {
		labels = append(labels, tick.label)
	}
	if diff := cmp.Diff([]string{"0 %", "+50 %", "+200 %", "−30 %", "−50 %"}, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}
