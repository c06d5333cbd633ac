package campaign

import (
	"testing"
	"time"
)

func TestTheSelfTestAsksNoMoreOfTheMachineThanItsServerCanWrite(t *testing.T) {
	for streams, want := range map[int]time.Duration{
		1: time.Millisecond, 25: time.Millisecond, 32: 1250 * time.Microsecond, 512: 20 * time.Millisecond, 2048: 80 * time.Millisecond,
	} {
		if got := selfTestTPOT(streams); got != want {
			t.Errorf("%d streams: a token every %v, want %v", streams, got, want)
		}
	}
}
