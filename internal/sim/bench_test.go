package sim

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// childOf names the variable that makes this test program a simulated server on its own.
const childOf = "BENCHGATE_SIM_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childOf) == "" {
		os.Exit(m.Run())
	}
	if err := child(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child serves until its standard input ends.
func child() error {
	r, err := Listen(Options{Slots: 1 << 20, TTFT: 100 * time.Millisecond, TPOT: 20 * time.Millisecond}, "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(r.listener.Addr())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return r.Close()
}

// BenchmarkStreams is the CPU time that one token costs the server, in a process of its own, at so many streams of 50
// tokens a second that start together. Each operation is one such wave.
func BenchmarkStreams(b *testing.B) {
	for _, n := range []int{32, 512, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchStreams(b, n) })
	}
}

func benchStreams(b *testing.B, streams int) {
	const tokens = 100
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childOf+"=1")
	cmd.Stderr = os.Stderr
	stop, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		wave(b, strings.TrimSpace(addr), streams, tokens)
	}
	stop.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	events := float64(b.N * streams * tokens)
	b.ReportMetric(float64(cmd.ProcessState.UserTime().Microseconds())/events, "user-µs/event")
	b.ReportMetric(float64(cmd.ProcessState.SystemTime().Microseconds())/events, "sys-µs/event")
}

// wave plays so many streams on connections of their own.
func wave(b *testing.B, addr string, streams, tokens int) {
	conns := make([]net.Conn, streams)
	for i := range conns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
	}
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() {
			body := chatBody(fmt.Sprint("stream ", i), tokens)
			fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			buf := make([]byte, 16<<10)
			for {
				n, err := c.Read(buf)
				if err != nil {
					b.Error(err)
					return
				}
				if bytes.HasSuffix(buf[:n], []byte("0\r\n\r\n")) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkRequest is what a request of one token costs without the network, by the words of its prompt.
func BenchmarkRequest(b *testing.B) {
	for _, words := range []int{8, 512} {
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			b.ReportAllocs()
			s, body := New(Options{}), chatBody("#0123abcd"+strings.Repeat(" word", words-1), 1)
			for b.Loop() {
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, chat, strings.NewReader(body)))
			}
		})
	}
}
