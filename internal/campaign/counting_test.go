package campaign

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/server"
)

// looks answers look after look; the last one goes on for ever.
type looks struct {
	answers []look
	asked   int
}

type look struct {
	requests float64
	known    bool
	err      error
}

func (l *looks) next(context.Context) (server.Counters, bool, error) {
	a := l.answers[min(l.asked, len(l.answers)-1)]
	l.asked++
	return server.Counters{Engine: "vllm", Totals: map[server.Counter]float64{server.Requests: a.requests}}, a.known, a.err
}

func TestCountersAreWaitedForAndNeverLong(t *testing.T) {
	broken := errors.New("read /metrics: the server answered 500")
	for _, c := range []struct {
		name    string
		answers []look
		want    float64 // requests counted; -1: not known
		asked   int     // times, over two loads
		after   time.Duration
		err     bool
	}{
		{"at once", []look{{5, true, nil}, {15, true, nil}, {15, true, nil}, {25, true, nil}}, 10, 4, 0, false},
		{"late", []look{{5, true, nil}, {9, true, nil}, {14, true, nil}, {15, true, nil}, {15, true, nil}, {25, true, nil}}, 10, 6, 200 * time.Millisecond, false},
		{"never", []look{{5, true, nil}}, 0, 12, 2 * time.Second, false},
		{"none", []look{{0, false, nil}}, -1, 1, 0, false},
		{"broken", []look{{0, false, broken}}, -1, 1, 0, true},
		{"broken between", []look{{5, true, nil}, {0, false, broken}}, -1, 2, 0, true},
		{"gone between", []look{{5, true, nil}, {0, false, nil}}, -1, 2, 0, false},
		{"started anew between", []look{{50, true, nil}, {3, true, nil}}, -1, 2, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &looks{answers: c.answers}
				counts := counting{look: l.next}
				began := time.Now()
				got, failed := -1.0, false
				for range 2 {
					before, err := counts.begin(t.Context())
					failed = failed || err != nil
					counted, err := counts.since(t.Context(), before, func(c server.Counters) bool { n, _ := c.Of(server.Requests); return n >= 10 })
					failed = failed || err != nil
					if got = -1; counted != nil {
						got, _ = counted.Of(server.Requests)
					}
				}
				if diff := cmp.Diff([]any{c.want, c.asked, c.after, c.err}, []any{got, l.asked, time.Since(began), failed}); diff != "" {
					t.Errorf("counted, asked, after, failed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAServerThatHangsIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		counts := counting{look: func(ctx context.Context) (server.Counters, bool, error) {
			if asked++; asked == 1 {
				return server.Counters{}, true, nil
			}
			<-ctx.Done()
			return server.Counters{}, false, ctx.Err()
		}}
		before, err := counts.begin(t.Context())
		if before == nil || err != nil {
			t.Fatal(before, err)
		}
		began := time.Now()
		if counted, err := counts.since(t.Context(), before, nil); counted != nil || err == nil || time.Since(began) != countingWithin {
			t.Errorf("%v, %v after %s", counted, err, time.Since(began))
		}
	})
}
