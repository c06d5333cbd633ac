package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/benchgate/benchgate/internal/openai"
)

// errLate is the cause when target.ready.within is over.
var errLate = errors.New("not ready in time")

// wait is what is awaited, the latest answer to it, and what to do if that stays the answer.
type wait struct {
	mu   sync.Mutex
	seen seen
}

type seen struct{ what, last, hint string }

func (w *wait) set(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen{what, "no answer yet", patience}
}

func (w *wait) saw(last, hint string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.last, w.seen.hint = last, hint
}

func (w *wait) get() seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// await returns when the server is ready, at once when that can no longer be.
func (s *Server) await(ctx context.Context) error {
	began, within := time.Now(), s.o.Target.ReadyIn
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(within, func() { cancel(errLate) })
	defer late.Stop()
	w := &wait{}
	told := make(chan struct{})
	go func() {
		defer close(told)
		s.attend(ctx, cancel, w, began)
	}()
	err := s.ask(ctx, w)
	died := context.Cause(ctx)
	cancel(nil)
	<-told
	switch {
	case err == nil:
		return s.stillOurs()
	case errors.Is(died, errLate):
		at := w.get()
		return hinted(at.hint, "not ready within %s: %s: %s", within, at.what, at.last)
	case died != nil:
		return died
	}
	return err
}

// ask puts the two questions: the ready path, then one token.
func (s *Server) ask(ctx context.Context, w *wait) error {
	if s.o.Target.ReadyPath != "" {
		w.set("waiting for 200 from " + s.address.origin + s.o.Target.ReadyPath)
		if err := s.answers(ctx, w); err != nil {
			return err
		}
	}
	w.set("waiting for a first token")
	return s.speaks(ctx, w)
}

// attend tells how the wait goes, and ends it when the process dies.
func (s *Server) attend(ctx context.Context, cancel context.CancelCauseFunc, w *wait, began time.Time) {
	var exited <-chan struct{}
	if s.process != nil {
		exited = s.process.exited
	}
	t := time.NewTicker(s.pauses.tell)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-exited:
			cancel(s.process.fate())
			return
		case <-t.C:
			at := w.get()
			s.o.Progress(fmt.Sprintf("%s, %s of at most %s: %s", at.what, time.Since(began).Round(time.Second), s.o.Target.ReadyIn, at.last))
		}
	}
}

// answers polls the ready path until it says 200, or cannot any more.
func (s *Server) answers(ctx context.Context, w *wait) error {
	r, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, s.address.origin+s.o.Target.ReadyPath, nil)
	if err != nil {
		return errors.New("target.ready.path does not make a URL with target.base_url")
	}
	if s.o.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+s.o.APIKey)
	}
	refused := 0
	c := retryablehttp.Client{
		HTTPClient: &http.Client{
			Timeout:       5 * time.Second,
			Transport:     &http.Transport{DisableKeepAlives: true, Proxy: nil, DialContext: s.o.Dial},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: math.MaxInt,
		Backoff:  func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return s.pauses.poll },
		CheckRetry: func(ctx context.Context, res *http.Response, err error) (bool, error) {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			said, hint := obstacle(res, err)
			if errors.Is(err, syscall.ECONNREFUSED) && len(s.o.Target.Command) == 0 {
				hint = standsAlone
			}
			said = s.heard(said)
			w.saw(said, hint)
			if refused++; !lasting(err) {
				refused = 0
			}
			if refused == refusals {
				return false, hinted(hint, "%s: %s", w.get().what, said)
			}
			return res == nil || res.StatusCode != http.StatusOK, nil
		},
		ErrorHandler: func(_ *http.Response, err error, _ int) (*http.Response, error) { return nil, err },
	}
	res, err := c.Do(r)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// refusals is how often in a row a server may refuse the request itself before it is believed.
const refusals = 3

// speaks asks for a token until one comes.
func (s *Server) speaks(ctx context.Context, w *wait) error {
	t := time.NewTimer(0)
	defer t.Stop()
	for refused := 0; ; t.Reset(s.pauses.again) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		err := s.o.FirstToken(ctx, s.address.base)
		if err == nil {
			return nil
		}
		w.saw(err.Error(), advised(err))
		if refused++; !final(err) {
			refused = 0
		}
		if refused == refusals {
			return err
		}
	}
}

// final tells errors that waiting does not mend: the server understood, and does not want the request. The names are
// those of bench.Class.
func final(err error) bool {
	var e *openai.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Class {
	case "http_4xx", "not_streaming", "redirected", "empty", "dns", "tls":
		return true
	}
	return false
}

// stillOurs makes sure that it was our process that answered, not another that took the port meanwhile.
func (s *Server) stillOurs() error {
	if s.process == nil {
		return nil
	}
	if how := s.process.fate(); how != nil {
		return fmt.Errorf("%w, yet port %s answers: another process serves it", how, s.address.port)
	}
	return nil
}
