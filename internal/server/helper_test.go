package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/sim"
)

// play is the variable that makes this test binary a small server instead.
const play = "BENCHGATE_TEST_PLAYS"

func TestMain(m *testing.M) {
	if part := os.Getenv(play); part != "" {
		time.AfterFunc(time.Minute, func() { os.Exit(99) }) // whatever happens to the test
		act(part, os.Args[1:])
		return
	}
	goleak.VerifyTestMain(m)
}

// act plays a part. The first argument is the port.
func act(part string, args []string) {
	switch part {
	case "simulated":
		r, err := sim.Listen(sim.Options{}, "127.0.0.1:"+args[0])
		check(err)
		<-r.Done()
	case "plain":
		fmt.Println("listening on", args[0], "in", workingFolder(), "with", os.Getenv("GIVEN"), "and token", os.Getenv("HF_TOKEN"))
		serve(args[0])
	case "slow": // listens only when the file is there
		for range time.Tick(5 * time.Millisecond) {
			if _, err := os.Stat(args[1]); err == nil {
				serve(args[0])
			}
		}
	case "fails":
		for i := range 40 {
			fmt.Fprintf(os.Stderr, "\x1b[31mline %d\x1b[0m key %s\n", i, args[1])
		}
		os.Exit(3)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		serve(args[0])
	case "parent": // leaves a child in the group that keeps the port and ignores SIGTERM
		child("stubborn", args[0], nil)
		await(args[0])
		select {} // until the group is signalled
	case "runaway": // leaves a child in a session of its own
		child("plain", args[0], &syscall.SysProcAttr{Setsid: true})
		await(args[0])
		select {} // until the group is signalled
	case "benchgate": // starts a server as benchgate does, and says its group
		s, err := Start(context.Background(), Options{
			Target: target("plain", args[0]), Log: args[1], FirstToken: func(context.Context, string) error { return nil },
		})
		check(err)
		fmt.Println(s.process.group)
		select {}
	default:
		panic("no such part: " + part)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
}

func workingFolder() string {
	dir, err := os.Getwd()
	check(err)
	return filepath.Base(dir)
}

// serve answers /health, and ends by SIGTERM or by /exit.
func serve(port string) {
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) })
	http.HandleFunc("/exit", func(http.ResponseWriter, *http.Request) { fmt.Println("asked to exit"); os.Exit(5) })
	check(http.ListenAndServe("127.0.0.1:"+port, nil))
}

func child(part, port string, attr *syscall.SysProcAttr) {
	exe, err := os.Executable()
	check(err)
	cmd := exec.Command(exe, port)
	cmd.Env = append(os.Environ(), play+"="+part)
	cmd.SysProcAttr = attr
	check(cmd.Start())
}

// await returns when the port is served.
func await(port string) {
	for range time.Tick(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			c.Close()
			return
		}
	}
}

// target is a config whose command plays a part on a port; further arguments follow the port.
func target(part, port string, args ...string) config.Target {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return config.Target{
		BaseURL: "http://127.0.0.1:" + port + "/v1", Model: "simulated-8b", API: "chat", LimitField: "auto",
		Command: append([]string{exe, port}, args...), Env: map[string]string{play: part},
		ReadyPath: "/health", ReadyIn: time.Minute, StopIn: 20 * time.Second,
	}
}

var quick = pauses{poll: 5 * time.Millisecond, again: 5 * time.Millisecond, tell: 10 * time.Millisecond, kill: 20 * time.Second, leave: 20 * time.Millisecond}

func speaks(context.Context, string) error { return nil }

// options start a part whose first token is taken for granted.
func options(t *testing.T, part string, args ...string) Options {
	t.Helper()
	return Options{
		Target: target(part, portMark, args...), Folder: t.TempDir(), Log: filepath.Join(t.TempDir(), "server.log"), FirstToken: speaks,
	}
}

// begin starts a server that the test must not leave behind.
func begin(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := start(t.Context(), o, quick)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

// port is a port that was free a moment ago.
func port(t *testing.T) string {
	t.Helper()
	p, err := freePort("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func gone(t *testing.T, s *Server) {
	t.Helper()
	if groupAlive(s.process.group) {
		t.Errorf("group %d lives", s.process.group)
	}
	if served, err := s.address.served(context.Background()); served || err != nil {
		t.Errorf("port %s: served %v, %v", s.address.port, served, err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	res, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// eventually polls until it is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
