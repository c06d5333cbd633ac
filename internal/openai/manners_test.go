package openai

import (
	"testing"
	"time"
)

func TestIdleConnectionIsWatched(t *testing.T) {
	for name, tt := range map[string]struct {
		keep  string
		close bool
	}{"stays open": {}, "is closed with the answer": {"Connection: close", true}} {
		t.Run(name, func(t *testing.T) {
			onPipes(t, &fake{keeps: tt.keep}, func(*Options) {}, func(t *testing.T, c *Client) {
				after, closed, err := c.Idle(t.Context(), 4*time.Second)
				if err != nil || closed != tt.close || after > time.Second {
					t.Errorf("closed %v after %s, %v", closed, after, err)
				}
			})
		})
	}
}
