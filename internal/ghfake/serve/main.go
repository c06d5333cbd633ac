// Command serve runs the GitHub of the tests on its own, for programs that are not Go tests.
//
// Its first line of output is the base of the API. It ends on an interrupt, with 1 where a call was not as GitHub
// describes it, each of which is told on stderr.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/benchgate/benchgate/internal/ghfake"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	var problems atomic.Int64
	s, err := start(args, stderr, func(p string) {
		problems.Add(1)
		fmt.Fprintln(stderr, "serve:", p)
	})
	if err != nil {
		fmt.Fprintln(stderr, "serve:", err)
		return 2
	}
	defer s.Close()
	fmt.Fprintln(stdout, s.URL)
	<-stop
	if problems.Load() > 0 {
		return 1
	}
	return 0
}

// asked is what the flags say: which GitHub, where it listens, where its calls and what it keeps are written.
type asked struct {
	ghfake.Options
	addr, calls, kept, seed string
}

func start(args []string, stderr io.Writer, problem func(string)) (*ghfake.Server, error) {
	a, err := flags(args, stderr)
	if err != nil {
		return nil, err
	}
	if a.seed != "" {
		if err := read(a.seed, &a.State); err != nil {
			return nil, err
		}
	}
	calls, err := os.OpenFile(cmp.Or(a.calls, os.DevNull), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if a.Listener, err = net.Listen("tcp", a.addr); err != nil {
		return nil, err
	}
	var s *ghfake.Server
	started := make(chan struct{})
	a.Record = func(c ghfake.Call) {
		<-started
		note(calls, c)
		keep(a.kept, s.State(), stderr)
	}
	s, err = ghfake.Start(a.Options, problem)
	close(started)
	return s, err
}

func flags(args []string, stderr io.Writer) (asked, error) {
	var a asked
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&a.addr, "addr", "127.0.0.1:0", "where to listen")
	f.StringVar(&a.Repository, "repo", "", "the only `OWNER/NAME` that exists; any if empty")
	f.StringVar(&a.Token, "token", "", "the only token that is believed; any if empty")
	f.StringVar(&a.Login, "login", "", "whose token it is; "+ghfake.Bot+" if empty")
	f.BoolVar(&a.ReadOnly, "read-only", false, "the token may write nothing")
	f.StringVar(&a.calls, "state", "", "a `FILE` that gets each call as a line of JSON")
	f.StringVar(&a.kept, "kept", "", "a `FILE` that holds comments, statuses and pull requests as JSON, written anew after each call")
	f.StringVar(&a.seed, "seed", "", "a `FILE` like that of -kept, read at the start")
	f.Func("pull", "a pull request that exists, as `NUMBER=SHA` of its head; may be repeated", func(s string) error {
		p, err := pull(s)
		a.State.Pulls = append(a.State.Pulls, p)
		return err
	})
	f.Func("fault", "what goes wrong, as `NAME[@CALL]`; CALL is one like create, or read or write; may be repeated; the names are "+
		strings.Join(ghfake.Names(), " "), func(s string) error {
		name, on, _ := strings.Cut(s, "@")
		a.Faults = append(a.Faults, ghfake.Fault{Name: name, On: on})
		return nil
	})
	return a, f.Parse(args)
}

func pull(s string) (ghfake.Pull, error) {
	number, sha, _ := strings.Cut(s, "=")
	n, err := strconv.Atoi(number)
	if err != nil || len(sha) != 40 {
		return ghfake.Pull{}, fmt.Errorf("%q is not like 7=<40 hex digits>", s)
	}
	return ghfake.Pull{Number: n, HeadSHA: sha, HeadRef: "change", HeadRepository: "example/server", BaseSHA: strings.Repeat("b", 40)}, nil
}

func read(name string, into *ghfake.State) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	return nil
}

// note appends a call in one write, so that a killed server leaves whole lines.
func note(calls *os.File, c ghfake.Call) {
	b, err := json.Marshal(c)
	if err == nil {
		_, _ = calls.Write(append(b, '\n'))
	}
}

func keep(name string, s ghfake.State, stderr io.Writer) {
	if name == "" {
		return
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = os.WriteFile(name, append(b, '\n'), 0o644)
	}
	if err != nil {
		fmt.Fprintln(stderr, "serve:", err)
	}
}
