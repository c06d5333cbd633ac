package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// limits bound a dataset file, in bytes.
type limits struct{ line, file int }

var datasetLimits = limits{line: 4 << 20, file: 512 << 20}

// maxOutput bounds how many tokens a line may ask for.
const maxOutput = 1 << 20

// line is one line of a jsonl dataset: a prompt or messages, and optionally how many tokens to ask for.
type line struct {
	Prompt       *string          `json:"prompt,omitempty"`
	Messages     []openai.Message `json:"messages,omitempty"`
	OutputTokens *int             `json:"output_tokens,omitempty"`
	number       int              // in the file, from 1
}

// jsonl fills in the prompts of a file, in its order. With fewer lines than requests it begins anew at the first line;
// with more, the first ones are used.
func (w *Workload) jsonl(s config.Scenario, folder, api string) error {
	f, err := Open(s.Dataset, folder)
	if err != nil {
		return err
	}
	defer f.Close()
	lines, err := readJSONL(f, s.Dataset.Path, s.Load.Requests, datasetLimits)
	if err != nil {
		return err
	}
	for i := range s.Load.Requests {
		l := lines[i%len(lines)]
		if len(l.Messages) > 0 && api == openai.Completions {
			return fmt.Errorf("dataset %q: messages need the chat api, and this target has api: completions",
				place(s.Dataset.Path, l.number))
		}
		output := s.OutputTokens
		if l.OutputTokens != nil {
			output = *l.OutputTokens
		}
		if output < 1 {
			return fmt.Errorf("dataset %q: neither the line nor the scenario has output_tokens", place(s.Dataset.Path, l.number))
		}
		w.prompts = append(w.prompts, l.ask())
		w.output = append(w.output, output)
	}
	w.compare()
	return nil
}

func (l line) ask() openai.Prompt {
	if l.Prompt != nil {
		return openai.Prompt{Text: *l.Prompt}
	}
	return openai.Prompt{Messages: l.Messages}
}

// readJSONL reads a dataset strictly: every line is checked, the first want are returned. Blank lines are passed over. An
// error names the file and the line.
func readJSONL(r io.Reader, name string, want int, max limits) ([]line, error) {
	bounded := &io.LimitedReader{R: r, N: int64(max.file) + 1}
	scanner := bufio.NewScanner(bounded)
	scanner.Buffer(nil, max.line)
	var lines []line
	number := 0
	for scanner.Scan() && bounded.N > 0 {
		number++
		text := scanner.Bytes()
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("dataset %q: %w", place(name, number), err)
		}
		if l.number = number; len(lines) < want {
			lines = append(lines, l)
		}
	}
	switch err := scanner.Err(); {
	case bounded.N <= 0:
		return nil, fmt.Errorf("dataset %q: larger than %d bytes", name, max.file)
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("dataset %q: the line is longer than %d bytes", place(name, number+1), max.line)
	case err != nil:
		return nil, fmt.Errorf("dataset %q: %w", place(name, number+1), err)
	case len(lines) == 0:
		return nil, fmt.Errorf("dataset %q: no line in it", name)
	}
	return lines, nil
}

func place(name string, number int) string { return fmt.Sprintf("%s:%d", name, number) }

func parseLine(text []byte) (line, error) {
	if err := foreign(text); err != nil {
		return line{}, err
	}
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the line is cut off")
		}
		return line{}, fmt.Errorf("%w (a line is an object with prompt or messages, and optionally output_tokens)", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return line{}, errors.New("something stands after the object")
	}
	return l, l.check()
}

func (l line) check() error {
	switch {
	case l.Prompt != nil && l.Messages != nil:
		return errors.New("has both prompt and messages")
	case l.Prompt == nil && len(l.Messages) == 0:
		return errors.New("has neither prompt nor messages")
	case l.Prompt != nil && *l.Prompt == "":
		return errors.New("prompt is empty")
	case l.OutputTokens != nil && (*l.OutputTokens < 1 || *l.OutputTokens > maxOutput):
		return fmt.Errorf("output_tokens is %d: want 1 to %d", *l.OutputTokens, maxOutput)
	}
	for i, m := range l.Messages {
		if m.Role == "" || m.Content == "" {
			return fmt.Errorf("message %d lacks a role or content", i+1)
		}
	}
	return nil
}
