package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchgate/benchgate/internal/ghfake"
)

// job EVENT [HEAD [BASE]] makes the script a job of a workflow that EVENT started: the environment that a runner gives, an
// event file like GitHub's in which HEAD and BASE, commits of the working folder, stand for its own, and empty files for
// outputs and summary. A dispatch is started on BASE. No INPUT_ variable is among it: the steps of a composite action have none.
func job(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 3 {
		ts.Fatalf("usage: job EVENT [HEAD [BASE]]")
	}
	name, _, _ := strings.Cut(args[0], ".")
	for _, kind := range []string{"_fork", "_deleted", "_draft", "_closed"} {
		name = strings.TrimSuffix(name, kind)
	}
	data, err := os.ReadFile(filepath.Join(events, args[0]+".json"))
	ts.Check(err)
	var event map[string]any
	ts.Check(json.Unmarshal(data, &event))
	for i, side := range []string{"head", "base"} {
		if i+1 < len(args) {
			setSide(event, side, commit(ts, args[i+1]))
		}
	}
	data, err = json.Marshal(event)
	ts.Check(err)
	file := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "event.json"))
	ts.Check(os.WriteFile(file, data, 0o600))
	for k, v := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": file, "GITHUB_REPOSITORY": "example/server", "GITHUB_WORKFLOW": "benchgate",
		"GITHUB_JOB": "verdict", "GITHUB_SHA": commit(ts, "HEAD"), "GITHUB_REF": "refs/heads/main", "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_SERVER_URL": "https://github.example", "GITHUB_API_URL": "http://127.0.0.1:1",
		"BENCHGATE_LOCK": ts.Getenv("LOCK"), // it waits for no other script's
	} {
		ts.Setenv(k, v)
	}
	if name == "workflow_dispatch" && len(args) == 3 {
		ts.Setenv("GITHUB_SHA", commit(ts, args[2])) // where it was started
	}
	for _, f := range []string{"output", "step_summary"} {
		path := filepath.Join(ts.Getenv("WORK"), f)
		ts.Check(os.WriteFile(path, nil, 0o600))
		ts.Setenv("GITHUB_"+strings.ToUpper(f), path)
	}
	ts.Check(os.MkdirAll(filepath.Join(ts.Getenv("WORK"), "temp"), 0o755))
	ts.Setenv("RUNNER_TEMP", filepath.Join(ts.Getenv("WORK"), "temp"))
}

// events are those of internal/github.
const events = "../../internal/github/testdata/events"

// setSide sets the commit of one side of an event; a dispatch names pull request 7 then.
func setSide(event map[string]any, side, sha string) {
	if pull, ok := event["pull_request"].(map[string]any); ok {
		if tip, ok := pull[side].(map[string]any); ok {
			tip["sha"] = sha
		}
	}
	if group, ok := event["merge_group"].(map[string]any); ok {
		group[side+"_sha"] = sha
	}
	if _, ok := event["inputs"]; ok && side == "head" {
		event["inputs"] = map[string]any{"pull-request": 7, "head": sha}
	}
}

func commit(ts *testscript.TestScript, rev string) string {
	cmd := exec.Command("git", "rev-parse", rev)
	cmd.Dir = ts.MkAbs(".")
	out, err := cmd.Output()
	ts.Check(err)
	return strings.TrimSpace(string(out))
}

// github [-read-only] [-fault NAME[@CALL]] [-pull NUMBER=REV] [-fork NUMBER=REV] starts a GitHub that knows these pull
// requests, and points the job at it. What it keeps is in the file kept, a line a call in the file calls.
func fakeGitHub(ts *testscript.TestScript, neg bool, args []string) {
	o := ghfake.Options{Token: "ghs_sesame"}
	for i := 0; i < len(args); i++ {
		switch flag, value := args[i], strings.Join(args[min(i+1, len(args)):min(i+2, len(args))], ""); flag {
		case "-read-only":
			o.ReadOnly = true
			continue
		case "-fault":
			name, on, _ := strings.Cut(value, "@")
			o.Faults = append(o.Faults, ghfake.Fault{Name: name, On: on})
		case "-pull", "-fork":
			number, rev, _ := strings.Cut(value, "=")
			n, err := strconv.Atoi(number)
			ts.Check(err)
			from := map[string]string{"-pull": "example/server", "-fork": "stranger/server"}[flag]
			o.State.Pulls = append(o.State.Pulls, ghfake.Pull{Number: n, HeadSHA: commit(ts, rev), HeadRef: "change", HeadRepository: from, BaseSHA: strings.Repeat("b", 40)})
		default:
			ts.Fatalf("unknown flag %s", flag)
		}
		i++
	}
	var s *ghfake.Server
	var problems bytes.Buffer
	var mu sync.Mutex
	work := ts.Getenv("WORK")
	started := make(chan struct{})
	o.Record = func(c ghfake.Call) {
		<-started
		mu.Lock()
		defer mu.Unlock()
		calls, err := os.OpenFile(filepath.Join(work, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintf(calls, "%s %s\n", c.Method, c.Path)
			err = calls.Close()
		}
		kept, jsonErr := json.MarshalIndent(s.State(), "", " ")
		if err := firstOf(err, jsonErr, os.WriteFile(filepath.Join(work, "kept"), kept, 0o600)); err != nil {
			fmt.Fprintln(&problems, err)
		}
	}
	s, err := ghfake.Start(o, func(p string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(&problems, p)
	})
	ts.Check(err)
	close(started)
	ts.Setenv("BENCHGATE_API_URL", s.URL)
	ts.Setenv("BENCHGATE_TOKEN", "ghs_sesame")
	ts.Defer(func() {
		s.Close()
		mu.Lock()
		defer mu.Unlock()
		if problems.Len() > 0 {
			ts.Fatalf("%s", problems.String())
		}
	})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tells NAME VALUE says that the step's output has this value now; a VALUE of several lines is joined by " | ".
func tells(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tells NAME VALUE")
	}
	got, found := outputs(ts.ReadFile(ts.Getenv("GITHUB_OUTPUT")))[args[0]]
	if !found || got != args[1] {
		ts.Fatalf("output %s is %q (set: %t), want %q", args[0], got, found, args[1])
	}
}

// outputs reads the file as the runner does.
func outputs(text string) map[string]string {
	all := map[string]string{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		name, end, ok := strings.Cut(lines[i], "<<")
		if !ok {
			continue
		}
		var value []string
		for i++; i < len(lines) && lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		all[name] = strings.Join(value, " | ")
	}
	return all
}
