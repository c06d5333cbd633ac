package server

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/benchgate/benchgate/internal/terminal"
)

const (
	tailLines = 20
	tailBytes = 16 << 10
	lineRunes = 400
)

// logFile is the part of a log that one start of the server wrote.
type logFile struct {
	name string
	from int64 // where this start begins
}

// openLog opens a log for appending. The file is the child's; it is closed here once the child has it.
func openLog(name string) (*os.File, logFile, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, logFile{}, fmt.Errorf("log of the server: %w", err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, logFile{}, fmt.Errorf("log of the server: %w", err)
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		f.Close()
		return nil, logFile{}, fmt.Errorf("log of the server: %w", err)
	}
	return f, logFile{name: name, from: end}, nil
}

// tail is the end of the log in at most 20 lines of printable text without the secrets. A log that cannot be read has none.
func (l logFile) tail(secrets []string) string {
	f, err := os.Open(l.name)
	if err != nil {
		return ""
	}
	defer f.Close()
	from := l.from
	if info, err := f.Stat(); err == nil {
		from = max(from, info.Size()-tailBytes)
	}
	data := make([]byte, tailBytes)
	n, err := f.ReadAt(data, from)
	if err != nil && n == 0 {
		return ""
	}
	text := data[:n]
	if from > l.from { // begins in the middle of a line, perhaps of a secret
		_, rest, found := bytes.Cut(text, []byte("\n"))
		if !found {
			rest = text[min(longest(secrets), len(text)):]
		}
		text = rest
	}
	// A secret may hold bytes that are no text, which do not outlive what strips escapes, and an escape may stand in the middle of one.
	plain := terminal.Strip(string(Redact(text, secrets)))
	return lastLines(string(Redact([]byte(plain), secrets)))
}

func longest(all []string) int {
	n := 0
	for _, s := range all {
		n = max(n, len(s))
	}
	return n
}

func lastLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = printable(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

// printable drops what could play tricks on a terminal, and the end of a long line. Of a line that was overwritten by
// carriage returns, as progress bars do, the last state stays.
func printable(line string) string {
	line = strings.TrimRight(line, "\r\n\t ")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	return short(legible(line))
}

// legible is a line without escapes and without what cannot be printed.
func legible(line string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(terminal.Strip(line), "�"))
}

func short(line string) string {
	if r := []rune(line); len(r) > lineRunes {
		line = string(r[:lineRunes]) + "…"
	}
	return line
}
