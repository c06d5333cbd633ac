package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// CampaignLog is a campaign.jsonl read back.
type CampaignLog struct {
	Header Header
	Visits []VisitRecord
	// Runs are those that were completed, in the order of the file.
	Runs []RunRecord
	// Requests holds the requests of each run, complete or not, by the run's order.
	Requests map[int][]RequestRecord
	Warnings []Warning
	// Cut says that the last line was half-written, as after a kill; it is left out.
	Cut bool
	// Whole is the length in bytes of what was read: where a cut file has to be truncated before it goes on.
	Whole int64
}

// RequestsOf returns the requests of a run by index.
func (l CampaignLog) RequestsOf(order int) []Request {
	var requests []Request
	for _, r := range l.Requests[order] {
		requests = append(requests, r.Request)
	}
	slices.SortFunc(requests, func(a, b Request) int { return a.Index - b.Index })
	return requests
}

// Complete reports whether the run of that order was completed.
func (l *CampaignLog) Complete(order int) bool {
	for _, r := range l.Runs {
		if r.Order == order {
			return true
		}
	}
	return false
}

// WriteRecord writes one line of a campaign. Exactly one field of the record is set.
func WriteRecord(w io.Writer, r Record) error {
	if r.Header != nil {
		h := *r.Header
		h.Schema = CampaignSchema
		r.Header = &h
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("write campaign: %w", err)
	}
	var b bytes.Buffer
	if err := compact(&b, r); err != nil {
		return fmt.Errorf("write campaign: %w", err)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// ReadCampaign reads a campaign.jsonl as far as it was written. Only its last line may be half-written; any other line
// that cannot be is an error, which names the line. Name stands for the file in errors.
func ReadCampaign(r io.Reader, name string) (*CampaignLog, error) {
	c := reading{log: &CampaignLog{Requests: map[int][]RequestRecord{}}, index: map[[2]int]bool{}, done: map[int]bool{}, left: map[int]bool{}}
	known := members{}
	err := eachLine(r, func(line []byte, whole bool) error {
		if !whole {
			c.log.Cut = true
			return nil
		}
		c.log.Whole += int64(len(line)) + 1
		var record Record
		if err := readLine(line, &record, known); err != nil {
			return c.stranger(err)
		}
		return c.add(record)
	})
	if err == nil && !c.begun {
		err = errors.New("line 1: half-written: nothing to read")
	}
	if err != nil {
		return nil, fmt.Errorf("read campaign %q: %w", name, err)
	}
	return c.log, nil
}

// reading is a campaign while it is read.
type reading struct {
	log   *CampaignLog
	begun bool
	index map[[2]int]bool // requests seen: order of the run, index
	done  map[int]bool    // runs completed
	left  map[int]bool    // runs that a visit left incomplete
}

// stranger words the error of a first line: the file is of another kind more often than damaged.
func (c *reading) stranger(err error) error {
	if c.begun {
		return err
	}
	return notOfKind(err, CampaignSchema)
}

func (c *reading) add(r Record) error {
	if r.Header == nil && !c.begun {
		return fmt.Errorf("no header with schema %q: not a campaign of benchgate", CampaignSchema)
	}
	if r.Header != nil {
		if err := checkSchema(r.Header.Schema, CampaignSchema); err != nil {
			return err
		}
	}
	if err := r.check(); err != nil {
		return err
	}
	switch {
	case r.Header != nil:
		return c.header(*r.Header)
	case r.Visit != nil:
		c.visit(*r.Visit)
	case r.Request != nil:
		return c.request(*r.Request)
	case r.Run != nil:
		return c.run(*r.Run)
	case r.Warning != nil:
		c.log.Warnings = append(c.log.Warnings, *r.Warning)
	}
	return nil
}

// header takes the first. A campaign that goes on after an interruption may say again what it is, but not be another.
func (c *reading) header(h Header) error {
	if c.begun && h.Key != c.log.Header.Key {
		return errors.New("a second header, of another campaign")
	}
	if !c.begun {
		c.log.Header = h
	}
	c.begun = true
	return nil
}

// visit ends what the one before left incomplete: its runs may be measured again under the same order.
func (c *reading) visit(v VisitRecord) {
	c.log.Visits = append(c.log.Visits, v)
	for order := range c.log.Requests {
		if !c.done[order] {
			c.left[order] = true
		}
	}
}

func (c *reading) request(q RequestRecord) error {
	if c.done[q.Order] {
		return fmt.Errorf("run %d: a request after the end of the run", q.Order)
	}
	if c.left[q.Order] {
		for _, old := range c.log.Requests[q.Order] {
			delete(c.index, [2]int{old.Order, old.Index})
		}
		delete(c.log.Requests, q.Order)
		delete(c.left, q.Order)
	}
	id := [2]int{q.Order, q.Index}
	if c.index[id] {
		return fmt.Errorf("run %d: request %d stands twice", q.Order, q.Index)
	}
	c.index[id] = true
	c.log.Requests[q.Order] = append(c.log.Requests[q.Order], q)
	return nil
}

func (c *reading) run(r RunRecord) error {
	if c.done[r.Order] {
		return fmt.Errorf("run %d stands twice", r.Order)
	}
	c.done[r.Order] = true
	c.log.Runs = append(c.log.Runs, r)
	return nil
}

// check says what is wrong with a record by itself.
func (r Record) check() error {
	set := 0
	for _, is := range []bool{r.Header != nil, r.Visit != nil, r.Request != nil, r.Run != nil, r.Warning != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("%d of header, visit, request, run and warning are set, want one", set)
	}
	switch {
	case r.Request != nil:
		if err := checkRequest(r.Request.Request); err != nil {
			return fmt.Errorf("run %d, request %d: %w", r.Request.Order, r.Request.Index, err)
		}
	case r.Run != nil:
		if err := CheckRun(r.Run.Run); err != nil {
			return fmt.Errorf("run %d: %w", r.Run.Order, err)
		}
	}
	return nil
}

func checkRequest(q Request) error {
	if q.Class == "" {
		return errors.New("no class")
	}
	if err := notNegative(
		number{"i", float64(q.Index)}, number{"scheduled", q.Scheduled}, number{"sent", q.Sent}, number{"headers", q.Headers},
		number{"first_token", q.FirstToken}, number{"first_answer", q.FirstAnswer}, number{"last_token", q.LastToken},
		number{"end", q.End}, number{"chunks", float64(q.Chunks)}, number{"coalesced", float64(q.Coalesced)},
		number{"input_tokens", float64(q.InputTokens)}, number{"output_tokens", float64(q.OutputTokens)},
		number{"reconnects", float64(q.Reconnects)},
	); err != nil {
		return err
	}
	if err := q.Told.check(); err != nil {
		return fmt.Errorf("told: %w", err)
	}
	for _, gap := range q.Gaps {
		if err := notNegative(number{"gaps", gap}); err != nil {
			return err
		}
	}
	if err := q.VLLM.check(q.Chunks); err != nil {
		return err
	}
	if q.Class != OK {
		return nil
	}
	if q.FirstToken > 0 && q.FirstToken < q.Sent || q.LastToken < q.FirstToken {
		return fmt.Errorf("sent %v, first token %v, last token %v: not in this order", q.Sent, q.FirstToken, q.LastToken)
	}
	return nil
}
