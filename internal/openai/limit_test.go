package openai

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// phase is what a request does at a moment: it begins a phase with a limit.
type phase struct{ at, limit int } // seconds

func TestAWatchEndsARequestAtTheLimitOfItsRunningPhase(t *testing.T) {
	for _, tt := range []struct {
		name   string
		total  int
		phases []phase
		want   int // when it is ended
		whole  bool
	}{
		{"the only phase", 100, []phase{{0, 10}}, 10, false},
		{"none: the whole", 100, nil, 100, true},
		{"begun again and again", 100, []phase{{0, 10}, {5, 10}, {14, 10}}, 24, false},
		{"a shorter one", 100, []phase{{0, 50}, {1, 2}}, 3, false},
		{"a shorter one, then a longer one", 100, []phase{{0, 50}, {1, 5}, {2, 20}}, 22, false},
		{"a longer one, then a shorter one after the timer fired once", 100, []phase{{0, 2}, {1, 30}, {8, 4}}, 12, false},
		{"one that the whole cuts off", 20, []phase{{0, 5}, {4, 60}}, 20, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				since := clock()
				w := newWatch(t.Context(), since, time.Duration(tt.total)*time.Second)
				ended := make(chan error, 1)
				w.on(func(cause error) { ended <- cause })
				for _, p := range tt.phases {
					time.Sleep(time.Duration(p.at)*time.Second - time.Duration(since()*1e9))
					w.enter(idleTimeout(time.Duration(p.limit)*time.Second), since())
				}
				cause := <-ended
				if at := since(); at < float64(tt.want) || at > float64(tt.want)+1e-6 {
					t.Errorf("ended after %v s, want %d", at, tt.want)
				}
				if whole := cause == error(w.total); whole != tt.whole || w.why() != cause {
					t.Errorf("ended by %v and %v", cause, w.why())
				}
				if w.stop() {
					t.Error("a request that was ended came to its own end")
				}
			})
		})
	}
}

func TestARequestThatIsOverIsNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWatch(ctx, clock(), time.Second)
		w.on(func(error) { t.Error("ended") })
		if !w.stop() {
			t.Error("not its own end")
		}
		cancel()
		time.Sleep(time.Hour)
		if w.why() != nil {
			t.Error(w.why())
		}
	})
}

func TestWhatARequestWaitsForLaterIsEndedTooOnceItWasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		w := newWatch(ctx, clock(), time.Hour)
		defer w.stop()
		cancel(reason)
		synctest.Wait()
		var got error
		w.on(func(cause error) { got = cause })
		if got != reason {
			t.Errorf("ended by %v", got)
		}
	})
}
