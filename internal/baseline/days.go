package baseline

import (
	"fmt"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// daysApart is the least time between the starts of two sessions that show how far days differ.
const daysApart = 6 * time.Hour

// SameDay says that a session of a digest began too soon after the one before it.
func SameDay(d bench.Digest, i int) (why string, ok bool) {
	if i == 0 || d.Sessions[i].Started.Sub(d.Sessions[i-1].Started) >= daysApart {
		return "", false
	}
	a, b := d.Sessions[i-1], d.Sessions[i]
	return fmt.Sprintf("sessions %q and %q began within %s: they do not show how far days differ, and make the baseline look steadier than it is",
		a.ID, b.ID, b.Started.Sub(a.Started).Round(time.Second)), true
}
