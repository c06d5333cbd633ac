package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/benchgate/benchgate/internal/campaign"
)

// TestNothingSaidIsObeyedByATerminal: what a server said may be in talk, in an error and in a diagnosis.
func TestNothingSaidIsObeyedByATerminal(t *testing.T) {
	const rude = "500 \x1b]0;x\x07\x1b[2J\u009b31m\u202egone\r\x00, \xff and more"
	const want = "500 gone, � and more"
	getenv := func(string) string { return "" }
	for _, c := range []struct {
		name string
		tell func(w *bytes.Buffer) error
	}{
		{"talk", func(w *bytes.Buffer) error {
			newTalk(w, false, false, false, getenv).say("%s\nnext", rude)
			return nil
		}},
		{"error", func(w *bytes.Buffer) error {
			conclude(&campaign.ServerError{Doing: "measure", Err: errors.New(rude), Hint: rude, LastWords: rude + "\nnext"}, &shell{ctx: t.Context(), stderr: w})
			return nil
		}},
		{"diagnosis", func(w *bytes.Buffer) error {
			return tellDiagnosis(w, campaign.Diagnosis{Checks: []campaign.Check{{Section: "server", Name: "start", State: campaign.Fail, Found: rude, Why: "\x1b]0;open", Next: rude}}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := c.tell(&out); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") < 2 {
				t.Errorf("%q, want %q in it", &out, want)
			}
			if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("unprintable: %q", &out)
			}
		})
	}
}
