package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"
)

// Rows are the requests of one run, condensed to integers, so that a percentile or an SLO can be computed anew.
type Rows struct {
	// Order is the run's place in its campaign.
	Order int `json:"run"`
	// Rows holds one request each: TTFT, TPOT and E2EL in microseconds, output tokens, and the code of the class. −1 is
	// absent.
	Rows [][5]int64 `json:"rows"`
}

// rowsHeader is the first line of a rows file: what the columns and the codes mean.
type rowsHeader struct {
	Schema  string   `json:"schema"`
	Columns []string `json:"columns"`
	Classes []Class  `json:"classes"`
}

// RowsOf condenses the requests of one run.
func RowsOf(order int, requests []Request) Rows {
	rows := Rows{Order: order, Rows: make([][5]int64, 0, len(requests))}
	for _, q := range requests {
		tokens := int64(-1)
		if q.Class == OK {
			tokens = int64(q.OutputTokens)
		}
		rows.Rows = append(rows.Rows, [5]int64{
			micros(q.TTFT()), micros(q.TPOT()), micros(q.E2EL()), tokens, int64(q.Class.Code()),
		})
	}
	return rows
}

func micros(seconds float64, ok bool) int64 {
	if !ok {
		return -1
	}
	return int64(math.Round(seconds * 1e6))
}

// WriteRows writes a rows file: a line that explains it, then a line a run.
func WriteRows(w io.Writer, rows []Rows) error {
	var b bytes.Buffer
	lines := []any{rowsHeader{RowsSchema, []string{"ttft_us", "tpot_us", "e2el_us", "output_tokens", "class"}, classes}}
	for _, r := range rows {
		if r.Rows == nil {
			r.Rows = [][5]int64{}
		}
		lines = append(lines, r)
	}
	for _, line := range lines {
		if err := compact(&b, line); err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ReadRows reads a rows file. Every line has to be whole; name stands for the file in errors.
func ReadRows(r io.Reader, name string) ([]Rows, error) {
	var all []Rows
	seen := map[int]bool{}
	header, known := false, members{}
	err := eachLine(r, func(line []byte, whole bool) error {
		if !whole {
			return errCut
		}
		if !header {
			header = true
			return notOfKind(kind(line, RowsSchema), RowsSchema)
		}
		rows, err := readRow(line, known)
		if err != nil {
			return err
		}
		if seen[rows.Order] {
			return fmt.Errorf("run %d stands twice", rows.Order)
		}
		seen[rows.Order] = true
		all = append(all, rows)
		return checkRows(rows)
	})
	if err != nil {
		return nil, fmt.Errorf("read rows %q: %w", name, err)
	}
	return all, nil
}

func checkRows(rows Rows) error {
	if rows.Order < 1 || rows.Order > maxCount {
		return fmt.Errorf("run %d is out of range", rows.Order)
	}
	for i, row := range rows.Rows {
		for _, v := range row {
			if v < -1 {
				return fmt.Errorf("run %d, request %d: %d is negative", rows.Order, i+1, v)
			}
		}
		if class := row[4]; class < 0 || class >= int64(len(classes)) {
			return fmt.Errorf("run %d, request %d: class %d is unknown", rows.Order, i+1, class)
		}
	}
	return nil
}

// readRow decodes the rows of a run. A Go array would take a row of another length in silence.
func readRow(line []byte, known members) (Rows, error) {
	var raw struct {
		Order int       `json:"run"`
		Rows  [][]int64 `json:"rows"`
	}
	if err := readLine(line, &raw, known); err != nil {
		return Rows{}, err
	}
	rows := Rows{Order: raw.Order, Rows: make([][5]int64, len(raw.Rows))}
	for i, row := range raw.Rows {
		if len(row) != len(rows.Rows[i]) {
			return Rows{}, fmt.Errorf("run %d, request %d: %d numbers, want %d", raw.Order, i+1, len(row), len(rows.Rows[i]))
		}
		copy(rows.Rows[i][:], row)
	}
	return rows, nil
}
