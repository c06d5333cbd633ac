package github_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
)

// lagging takes a while before each call and after it.
type lagging struct {
	next http.RoundTripper
	lags []time.Duration
	n    int
}

func (l *lagging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-time.After(l.lag())
	a, err := l.next.RoundTrip(r)
	<-time.After(l.lag())
	return a, err
}

func (l *lagging) lag() time.Duration {
	l.n++
	return l.lags[l.n%len(l.lags)]
}

// TestJobsAtOnceLoseNoWord has up to four jobs of one run publish within seconds, over networks that lag. What a job says
// is written is there, in the one comment.
func TestJobsAtOnceLoseNoWord(t *testing.T) {
	upTo := func(most int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(0, most), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond })
	}
	old := written(t, 49, "old words")
	rapid.Check(t, func(rt *rapid.T) {
		jobs := rapid.IntRange(2, 4).Draw(rt, "jobs")
		there := rapid.Bool().Draw(rt, "there is a comment")
		starts := rapid.SliceOfN(upTo(3000), jobs, jobs).Draw(rt, "starts")
		lags := rapid.SliceOfN(rapid.SliceOfN(upTo(150), 5, 9), jobs, jobs).Draw(rt, "lags")
		synctest.Test(t, func(t *testing.T) {
			state := open()
			if there {
				state.Comments = []ghfake.Comment{{Issue: number, Body: old}}
			}
			w := inMemory(t, ghfake.Options{State: state})
			defer w.leave()
			posted := make([]github.Posted, jobs)
			var all sync.WaitGroup
			for i := range jobs {
				p := note(50, fmt.Sprintf("words of job %d.", i))
				p.Sections[0].Name, p.Statuses = fmt.Sprint("runner-", i), nil
				c, err := github.NewClient(github.ClientOptions{API: w.URL, Token: token, Repository: repository, Transport: &lagging{next: w.transport, lags: lags[i]}})
				if err != nil {
					t.Fatal(err)
				}
				all.Go(func() {
					<-time.After(starts[i])
					posted[i] = c.Publish(t.Context(), p)
				})
			}
			all.Wait()
			kept := w.Comments(number)
			whole := ""
			for _, c := range kept {
				whole += c.Body
			}
			if len(kept) > 1 {
				rt.Errorf("%d comments: %v", len(kept), w.Made())
			}
			for i, p := range posted {
				if done := p.Comment == "created" || p.Comment == "updated"; done && !strings.Contains(whole, fmt.Sprintf("words of job %d.", i)) {
					rt.Errorf("job %d says %+v; calls %v; the comments are %+v", i, p, w.Made(), kept)
				}
			}
		})
	})
}

// tardy loses the answer of the first POST at once, and delivers it later.
type tardy struct {
	next http.RoundTripper
	late time.Duration
	lost bool
	done sync.WaitGroup
}

func (l *tardy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || l.lost {
		return l.next.RoundTrip(r)
	}
	l.lost = true
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	again := r.Clone(context.WithoutCancel(r.Context()))
	again.Body = io.NopCloser(bytes.NewReader(body))
	l.done.Go(func() {
		<-time.After(l.late)
		if a, err := l.next.RoundTrip(again); err == nil {
			_ = a.Body.Close()
		}
	})
	return nil, io.ErrUnexpectedEOF
}

// TestACommentThatAppearsLateIsClearedAway: where a lost POST takes effect only after it was looked for and sent again,
// there are two comments, until the next look of this run or of the next.
func TestACommentThatAppearsLateIsClearedAway(t *testing.T) {
	for late, want := range map[time.Duration]int{time.Second: 1, 2500 * time.Millisecond: 1, 20 * time.Second: 2} {
		synctest.Test(t, func(t *testing.T) {
			w := inMemory(t, ghfake.Options{})
			defer w.leave()
			l := &tardy{next: w.transport, late: late}
			c, err := github.NewClient(github.ClientOptions{API: w.URL, Token: token, Repository: repository, Transport: l})
			if err != nil {
				t.Fatal(err)
			}
			posted := c.Publish(t.Context(), note(49, "old words"))
			l.done.Wait()
			if n := len(w.Comments(number)); posted.Comment != "created" || n != want {
				t.Errorf("%v late: %+v, and then %d comments, want %d", late, posted, n, want)
			}
			if posted := w.publish(note(50, "new words")); posted.Comment != "updated" || w.left() != "new+2" {
				t.Errorf("%v late, the next run: %+v, %s", late, posted, w.left())
			}
		})
	}
}
