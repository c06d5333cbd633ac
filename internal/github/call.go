package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	api "github.com/google/go-github/v66/github"
)

// afterUnknown is how long a thing may take to show in a list after a POST whose answer was lost.
const afterUnknown = 2 * time.Second

// call makes one call that may be made again. Where GitHub asks for a wait and the budget has it, it waits once.
func (c *Client) call(ctx context.Context, do func() (*api.Response, error)) error {
	err := c.once(ctx, do)
	if f := c.failure(err); f.kind == slow && c.pause(ctx, f.after) == nil {
		return c.once(ctx, do)
	}
	return err
}

// once makes one call. The reason why a context ended is better than the library's word for it.
func (c *Client) once(ctx context.Context, do func() (*api.Response, error)) error {
	if err := ended(ctx); err != nil {
		return err
	}
	_, err := do()
	if cause := ended(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// pause waits for what GitHub asks for, and says so.
func (c *Client) pause(ctx context.Context, d time.Duration) error {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return errBudget
	}
	if d > betweenWrite {
		c.say(fmt.Sprintf("GitHub asks to wait %.0f s", d.Seconds()))
	}
	return wait(ctx, d)
}

// create makes a thing exactly once. A POST whose outcome is unknown is not sent again before find has looked for what it
// may have made.
func (c *Client) create(ctx context.Context, do func() (*api.Response, error), find func() (bool, error)) error {
	err := c.once(ctx, do)
	var held error
	switch f := c.failure(err); f.kind {
	case slow:
		held = c.pause(ctx, f.after)
	case unknown:
		held = wait(ctx, max(afterUnknown, f.after))
	default:
		return err
	}
	if held != nil {
		return err
	}
	switch found, lost := find(); {
	case lost != nil:
		return errors.Join(err, lost)
	case found:
		return nil
	}
	return c.once(ctx, do)
}
