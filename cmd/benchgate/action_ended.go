package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/server"
)

const (
	// endedFile is what a measuring job leaves in its runner's folder where an error ended it. A scenario's files have other names.
	endedFile   = "ended.jsonl"
	endedSchema = "benchgate.ended/v1"
	mostEnded   = 64 << 10 // bytes that are read of it

	mostEndedWhy   = 500 // characters of the error
	mostEndedWords = 300 // characters of the last words: the end of them
	mostEndedNext  = 400 // characters of what to do
)

// ended is why a measuring job measured no more. All of it is text of a stranger to whoever reads it.
type ended struct {
	Schema    string `json:"schema"`
	Why       string `json:"why"`
	LastWords string `json:"last_words,omitempty"` // of the server; its log has more
	Next      string `json:"next,omitempty"`
}

// ending is an error as the job that judges is told it: without secrets, on one line, and cut.
func ending(err error, secrets []string) ended {
	told := func(text string) string { return tidy(string(server.Redact([]byte(text), secrets))) }
	e := ended{Schema: endedSchema, Why: shorten(told(err.Error()), mostEndedWhy), Next: shorten(told(afterEnd(err)), mostEndedNext)}
	var s *campaign.ServerError
	if !errors.As(err, &s) {
		return e
	}
	words := []rune(told(s.LastWords))
	if over := len(words) - mostEndedWords; over > 0 {
		words = append([]rune("…"), words[over:]...)
	}
	e.LastWords = string(words)
	return e
}

// afterEnd says what to do about an error of the measuring job: another attempt helps where the machine was the cause, and a new
// commit where the change was.
func afterEnd(err error) string {
	var s *campaign.ServerError
	var h hinted
	switch {
	case errors.Is(err, campaign.ErrLocked), errors.Is(err, campaign.ErrBusy):
		return "Run the job again when whoever holds the device is done, or let it wait longer: lock-timeout."
	case errors.Is(err, campaign.ErrBudget), errors.Is(err, campaign.ErrSpoilt):
		return "Run the job that measures again: what was measured counts, and the rest is measured."
	case errors.As(err, &s) && (s.LastWords != "" || s.Hint == ""):
		return "If the change is the cause (its code, or target.command with its flags), mend it in a new commit: another attempt measures the same. If the machine was, run the job again."
	case errors.As(err, &s):
		return capital(s.Hint) + ". What the change asks for is mended in a new commit."
	case errors.As(err, &h):
		return capital(h.hint) + "."
	}
	return "Mend what it names, in a new commit if the change holds it."
}

// tidy is a text on one line, without what a terminal would obey.
func tidy(s string) string { return strings.Join(strings.Fields(legible(s)), " ") }

// leave keeps among the results why nothing more was measured, as far as it is known of which runner. Nothing is kept of an
// interruption, which is told by GitHub, and nothing is lost by not keeping it: the log has it.
func (a *action) leave(err error) {
	var missing notMeasured
	all, unread := a.asked()
	if a.sh.ctx.Err() != nil || errors.As(err, &missing) || unread != nil || len(all) != 1 {
		return
	}
	folder := filepath.Join(a.in.out, all[0].Runner)
	if ours(a.in.out, all[0].Runner) != nil || unlinked(folder) != nil {
		return // a folder of something else, where nothing was to be written
	}
	e := ending(err, a.secrets(all[0].Config))
	if err := writeFile(filepath.Join(folder, endedFile), func(f *os.File) error { return json.NewEncoder(f).Encode(e) }); err != nil {
		a.lost = append(a.lost, fmt.Sprintf("what ended the job is not among its results: %v", err))
	}
}

// secrets are what no text of a server may show.
func (a *action) secrets(c config.Config) []string {
	all := server.Secrets(c.Target, a.sh.getenv(c.Target.APIKeyEnv), a.sh.getenv)
	if r := c.Reference; r != nil {
		all = append(all, server.Secrets(*r, a.sh.getenv(r.APIKeyEnv), a.sh.getenv)...)
	}
	return all
}

// shorten keeps at most so many characters, the last one telling that there were more.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// forget removes what an earlier attempt left of its end.
func (a *action) forget() {
	all, err := a.asked()
	if err != nil || len(all) != 1 {
		return
	}
	if folder := filepath.Join(a.in.out, all[0].Runner); unlinked(folder) == nil {
		_ = os.Remove(filepath.Join(folder, endedFile))
	}
}

// hindrance says what kept the results of a runner from being whole, and what to do; empty where nothing did.
func (a *action) hindrance(folder string) (why, next string) {
	if e, ok := endOf(folder); ok {
		return e.told()
	}
	if bad := a.failed(false); bad != "" {
		return a.withheld(bad, folder != "")
	}
	return "", ""
}

// endOf reads what ended the job that measured; false where nothing did, or nothing that can be read.
func endOf(folder string) (ended, bool) {
	if folder == "" {
		return ended{}, false
	}
	f, err := os.Open(filepath.Join(folder, endedFile))
	if err != nil {
		return ended{}, false
	}
	defer f.Close()
	var e ended
	err = bench.Document(io.LimitReader(f, mostEnded), endedSchema, &e)
	return e, err == nil
}

// told makes a sentence of it, and what to do. It was read from a file of a stranger: it is cut again.
func (e ended) told() (why, next string) {
	why = "The measuring job ended with: " + strings.TrimRight(shorten(tidy(e.Why), mostEndedWhy), ".")
	if e.LastWords != "" {
		why += fmt.Sprintf("; its last words: %q", shorten(tidy(e.LastWords), mostEndedWords+1))
	}
	return why + ".", cmp.Or(shorten(tidy(e.Next), mostEndedNext), "See the log of the job that measures.")
}
