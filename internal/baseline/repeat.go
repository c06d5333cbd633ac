package baseline

import (
	"fmt"
	"maps"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// repeated refuses a run that stands twice: files that were imported again, beside others or under another name. Counted
// twice they would make the baseline look steadier than it is. Two runs are one when they began at the same moment, lasted
// as long, and measured the same to the last digit.
func repeated(old, head []bench.Session) error {
	type placed struct {
		bench.Run
		session string
	}
	seen := map[string][]placed{}
	for i, s := range append(append([]bench.Session{}, old...), head...) {
		for _, r := range s.Runs() {
			key := fmt.Sprint(r.Started.UTC().Format(time.RFC3339Nano), " ", r.Duration, " ", r.Sent, " ", r.OK)
			for _, other := range seen[key] {
				if i >= len(old) && r.Valid() && len(r.Metrics) > 0 && maps.Equal(r.Metrics, other.Metrics) {
					return fmt.Errorf("run %d of session %q is run %d of session %q once more; give each result once", r.Order, s.ID, other.Order, other.session)
				}
			}
			if r.Valid() {
				seen[key] = append(seen[key], placed{r, s.ID})
			}
		}
	}
	return nil
}
