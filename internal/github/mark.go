package github

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// mark says which commit and which attempt of which run a comment, or a section of it, was written for.
type mark struct {
	head    string
	run     int64
	attempt int
}

func (j Job) mark() mark { return mark{head: j.Head(), run: j.RunID, attempt: j.RunAttempt} }

// newer tells whether a mark comes from a later run, or from a later attempt of the same run.
func (m mark) newer(than mark) bool {
	return m.run > than.run || m.run == than.run && m.attempt > than.attempt
}

const (
	// runsAhead is how much later a run may be that has written before this one has: GitHub counts its runs, and this is what it
	// counts in months.
	runsAhead = 1_000_000_000
	// attemptsMost is more than anybody starts a run again.
	attemptsMost = 10_000
)

// credible tells whether there can be such a run while the job is at work.
func (m mark) credible(j Job) bool {
	return m.attempt <= attemptsMost && (j.RunID == 0 || m.run-j.RunID <= runsAhead)
}

func (m mark) String() string {
	return fmt.Sprintf("head=%s run=%d attempt=%d", m.head, m.run, m.attempt)
}

const (
	markPattern = `head=([0-9a-f]{40}|[0-9a-f]{64}) run=(\d{1,18}) attempt=(\d{1,9})`
	namePattern = `([A-Za-z0-9._/_-]{1,100})`
)

var (
	commentMark  = regexp.MustCompile(`^<!-- benchgate:` + namePattern + ` ` + markPattern + ` -->$`)
	sectionStart = regexp.MustCompile(`^<!-- benchgate-section:` + namePattern + ` ` + markPattern + ` rank=(-?\d{1,9}) -->$`)
)

// markOf reads the first line of a comment; false where it is none of ours, or of another key.
func markOf(body, key string) (mark, bool) {
	line, _, _ := strings.Cut(body, "\n")
	m := commentMark.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
	if m == nil || m[1] != key {
		return mark{}, false
	}
	return readMark(m[2:])
}

func readMark(m []string) (mark, bool) {
	run, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return mark{}, false
	}
	attempt, err := strconv.Atoi(m[2])
	return mark{head: m[0], run: run, attempt: attempt}, err == nil
}

const nameBytes = 100

// safeName is a name as it stands in a marker: what could end an HTML comment, or could not be read back, is written as
// "_" and its number. Two names that differ stay different.
func safeName(s string) string {
	var b strings.Builder
	var last byte
	for _, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '/' ||
			c == '-' && last != '-'
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
		last = c
	}
	name := b.String()
	if name == "" {
		return "_"
	}
	if len(name) > nameBytes {
		sum := sha256.Sum256([]byte(s))
		return name[:nameBytes-20] + "_" + hex.EncodeToString(sum[:8])
	}
	return name
}

// plainName is the name that safeName has made safe; of one that was too long it is what is left of it.
func plainName(safe string) string {
	if safe == safeName("") {
		return ""
	}
	return escaped.ReplaceAllStringFunc(safe, func(s string) string {
		c, err := hex.DecodeString(s[1:])
		if err != nil {
			return s
		}
		return string(c)
	})
}

var escaped = regexp.MustCompile(`_[0-9a-f]{2}`)
