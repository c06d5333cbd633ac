package openai

import (
	"bytes"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// A server that would send a gigabyte costs the client no more than what it looks at: all that is allocated, garbage that
// was freed again included, is counted here.
func TestAServerThatSendsWithoutEndCostsLittleMemory(t *testing.T) {
	const (
		head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
		mib  = 1 << 20
	)
	text := bytes.Repeat([]byte("x"), mib)
	for _, tt := range []struct {
		name, head string
		piece      []byte
		class      bench.Class
		most       uint64 // MiB
	}{
		{"comments", head, append(append([]byte(": "), text...), '\n'), bench.Malformed, 16},
		{"lines of nothing", head, bytes.Repeat([]byte(strings.Repeat("y", 1<<14)+"\n"), 64), bench.Malformed, 4},
		{"a line without end", head + "data: ", text, bench.Malformed, 128}, // 16 MiB at most, and what it grew from
		{"tokens", head, bytes.Repeat([]byte(word), 1000), bench.TooLong, 4},
		{"ten thousand tokens an event", head, []byte(data(delta(`"content":"` + strings.Repeat(" word", 10_000) + `"`))), bench.TooLong, 4},
		{"JSON", head + "{", text, bench.NotStreaming, 4},
		{"a refusal", "HTTP/1.1 500 Oops\r\n\r\n", text, bench.HTTP5xx, 4},
		{"headers", "HTTP/1.1 200 OK\r\nX: ", text, bench.Malformed, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := raw(t, func(c net.Conn, _ int) bool {
				_, err := c.Write([]byte(tt.head))
				for sent := 0; err == nil && sent < 1<<30; sent += len(tt.piece) {
					_, err = c.Write(tt.piece)
				}
				return false
			})
			c := client(t, url)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := ask(c)
			runtime.ReadMemStats(&after)
			expect(t, r, tt.class, "")
			if got := (after.TotalAlloc - before.TotalAlloc) / mib; got > tt.most {
				t.Errorf("%d MiB were allocated, want at most %d", got, tt.most)
			}
		})
	}
}
