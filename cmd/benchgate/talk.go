package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/benchgate/benchgate/internal/campaign"
)

// talkEvery is how often long work says where it stands when there is no terminal to draw on.
const talkEvery = 10 * time.Second

// talk is what the program says on stderr while it works: never a result, never needed to understand one.
type talk struct {
	mu       sync.Mutex
	w        io.Writer
	quiet    bool
	verbose  bool
	json     *slog.Logger
	terminal bool
	bar      *progressbar.ProgressBar
	label    string
	last     time.Time
}

func newTalk(w io.Writer, quiet, verbose, asJSON bool, getenv func(string) string) *talk {
	t := &talk{w: w, quiet: quiet, verbose: verbose}
	if asJSON {
		t.json = slog.New(slog.NewJSONHandler(w, nil))
	}
	f, ok := w.(*os.File)
	t.terminal = ok && !asJSON && term.IsTerminal(int(f.Fd())) && getenv("CI") == ""
	return t
}

// speakTo sends what is said from now on elsewhere; there is no terminal behind it.
func (t *talk) speakTo(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.w, t.terminal = w, false
	if t.json != nil {
		t.json = slog.New(slog.NewJSONHandler(w, nil))
	}
}

// say writes one line.
func (t *talk) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(fmt.Sprintf(format, args...))
}

// detail writes one line that only -v shows.
func (t *talk) detail(format string, args ...any) {
	if t.verbose {
		t.say(format, args...)
	}
}

func (t *talk) line(s string) {
	if t.quiet {
		return
	}
	t.clear()
	s = legible(s)
	if t.json != nil {
		t.json.Info(s)
		return
	}
	fmt.Fprintln(t.w, s)
}

// progress draws a bar on a terminal, and says one line every ten seconds elsewhere.
func (t *talk) progress(p campaign.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.quiet {
		return
	}
	what := p.Scenario
	if p.Side != "" {
		what += " (" + p.Side + ")"
	}
	label := fmt.Sprintf("%s run %d of %d", what, p.Run, p.Of)
	if p.WarmUp {
		label = what + " warm-up"
	}
	if t.terminal {
		t.draw(label, p)
		return
	}
	if now := time.Now(); now.Sub(t.last) >= talkEvery {
		t.last = now
		t.line(fmt.Sprintf("%s: %d of %d requests", label, p.Done, p.Requests))
	}
}

func (t *talk) draw(label string, p campaign.Progress) {
	if t.bar == nil || t.label != label || t.bar.GetMax() != p.Requests {
		t.clear()
		t.label = label
		t.bar = progressbar.NewOptions(p.Requests, progressbar.OptionSetWriter(t.w), progressbar.OptionSetDescription(label),
			progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	}
	_ = t.bar.Set(p.Done)
}

func (t *talk) clear() {
	if t.bar != nil {
		_ = t.bar.Clear()
		t.bar = nil
	}
}

func (t *talk) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
