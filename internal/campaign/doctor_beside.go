package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/server"
)

// connections looks at what the server does with a connection after an answer. False: none can be opened any more, and what
// the server has beside its answers cannot be looked at. Words are the server's last.
func (d *doctor) connections(ctx context.Context, c *openai.Client, caps openai.Capabilities, words func() string) bool {
	check := Check{Section: "server", Name: "connections", State: Good, Found: caps.KeepAlive}
	d.Say(fmt.Sprintf("watching an idle connection for %s", lookIdle))
	after, closed, err := c.Idle(ctx, lookIdle)
	var e *openai.Error
	switch {
	case errors.As(err, &e) && slices.Contains(unreachable, e.Class):
		d.add(gone(e, words()))
		return false
	case err != nil:
		check.Found += "; an idle one could not be watched: " + err.Error()
	case closed && after < 100*time.Millisecond:
		check.State, check.Found = Warn, "closed after each answer"
		check.Why, check.Next = "each request opens one, and that time is in its ttft", keepThem+" (HTTP/1.1 keep-alive)"
	case closed:
		check.State, check.Found = Warn, fmt.Sprintf("an idle one is closed after %s", brief(after.Seconds()))
		check.Why = fmt.Sprintf("this program keeps one for %s: a request may meet it closing, and goes out again on another", lookIdle)
		check.Next = "nothing; reconnects are counted in every run. A longer keep-alive of the server avoids them"
	default:
		check.Found += fmt.Sprintf("; an idle one is still open after %s", lookIdle)
	}
	d.add(d.reconnected(check))
	return true
}

const keepThem = "let the server, or the proxy before it, keep connections between requests"

// reconnected adds what the trial met: a connection may stay open while nothing is asked on it, and be closed when something is.
func (d *doctor) reconnected(c Check) Check {
	if d.reconnects == 0 {
		return c
	}
	c.Found += fmt.Sprintf("; yet %d of the trial's %d requests met a kept one that the server had closed, and went out again", d.reconnects, tryAnswers)
	if c.State == Good {
		c.State, c.Why, c.Next = Warn, "the time that this takes is in their ttft", keepThem
	}
	return c
}

// unreachable are the classes of a connection that could not be opened.
var unreachable = []bench.Class{bench.Refused, bench.ConnTimeout, bench.DNS, bench.TLS}

// gone is said of a server that answered before, and takes no connection now.
func gone(e *openai.Error, words string) Check {
	return Check{
		Section: "server", Name: "connections", State: Fail, Class: string(e.Class), Found: "none can be opened any more: " + e.Said + lastWords(words),
		Why:  "the server answered preflight, and is gone: what else it offers is not looked at",
		Next: "its log says why it ended, or what stopped it from listening",
	}
}

// beside looks at the paths beside the API that the config names.
func (d *doctor) beside(ctx context.Context, s *server.Server) {
	if path := d.target.Metrics; path != "" {
		switch _, known, err := s.Counters(ctx); {
		case err != nil:
			d.add(Check{
				Section: "server", Name: "metrics", State: Warn, Found: err.Error(), Why: "the server's own counters cannot be read",
				Next: "set target.metrics to their path, or to off",
			})
		case known:
			d.good("server", "metrics", "%s answers with counters that this program knows", path)
		default:
			d.good("server", "metrics", "%s has no counters that this program knows", path)
		}
	}
	if d.target.ResetPath == "" {
		return
	}
	if err := s.Reset(ctx); err != nil {
		d.broken("reset", err, "run resets the server before every run, and stops when that fails")
		return
	}
	d.good("server", "reset", "POST %s works", d.target.ResetPath)
}
