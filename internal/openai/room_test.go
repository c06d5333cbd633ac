package openai

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestTheAnswersAtHandShareTheirMemory(t *testing.T) {
	r := &room{most: mostHeld}
	big, other := share{room: r}, share{room: r}
	for _, step := range []struct {
		of    *share
		bytes int
		fits  bool
		all   int64
	}{
		{&big, leastHeld, true, 0},
		{&big, mostHeld - 1<<20, true, mostHeld - 1<<20},
		{&other, 1 << 20, true, mostHeld},
		{&other, 2 << 20, false, mostHeld + 1<<20},
		{&big, 1 << 20, true, 3 << 20},
		{&other, 100, true, 1 << 20},
	} {
		if fits := step.of.hold(step.bytes); fits != step.fits || r.held.Load() != step.all {
			t.Errorf("%d bytes: %v, %d in all; want %v, %d", step.bytes, fits, r.held.Load(), step.fits, step.all)
		}
	}
	big.free()
	other.free()
	if n := r.held.Load(); n != 0 {
		t.Errorf("%d bytes are held by nobody", n)
	}
}

// Each event is allowed for itself; all together are not. Those that fit come, and afterwards all is free again.
func TestLongEventsInEveryAnswerAreBoundedTogether(t *testing.T) {
	const requests = 24 // of 300 KiB where there is room for 4 MiB
	all := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Add(requests)
	go func() { waiting.Wait(); close(all) }()
	event := "data: " + strings.Repeat(" ", 300<<10)
	c := client(t, "http://pipe", func(o *Options) {
		o.Dial = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe() // what is written is read
			go func() {
				defer far.Close()
				if !readRequest(bufio.NewReader(far)) {
					t.Error("no request")
				}
				_, _ = io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+event)
				waiting.Done()
				<-all // no event ends before all are under way
				_, _ = io.WriteString(far, "{}\n\n"+word+finish+count3+done)
			}()
			return near, nil
		}
	})
	c.room.most = 4 << 20
	results := make(chan bench.Request, requests)
	for range requests {
		go func() { results <- ask(c) }()
	}
	came := map[bench.Class]int{}
	for range requests {
		r := <-results
		came[r.Class]++
		if r.Class != bench.OK && !strings.Contains(r.Error, "all answers at hand") {
			t.Errorf("%s: %s", r.Class, r.Error)
		}
	}
	if came[bench.Malformed] == 0 || came[bench.OK] == 0 {
		t.Errorf("%v", came)
	}
	if n := c.room.held.Load(); n != 0 {
		t.Errorf("%d bytes are held by nobody", n)
	}
}
