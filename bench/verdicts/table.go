package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// between replaces what stands between a document's two markers of a name.
func between(text []byte, name string, table []byte) ([]byte, error) {
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->"
	from, to := bytes.Index(text, []byte(begin)), bytes.Index(text, []byte(end))
	if from < 0 || to < from {
		return nil, fmt.Errorf("the markers %s:begin and %s:end are not there", name, name)
	}
	return slices.Concat(text[:from+len(begin)], []byte("\n"), table, []byte("\n"), text[to:]), nil
}

// into puts the tables into a document, whose own words stay.
func (f figures) into(text []byte) ([]byte, error) {
	var verdicts, detectable bytes.Buffer
	if err := f.tell(&verdicts); err != nil {
		return nil, err
	}
	smallest(&detectable)
	text, err := between(text, "verdicts", verdicts.Bytes())
	if err != nil {
		return nil, err
	}
	return between(text, "detectable", detectable.Bytes())
}

// key is a gate with its design and size: a line of the tables.
type key struct {
	gate, design string
	base, head   int
}

func (r row) key() key { return key{r.Gate, r.Design, r.NBase, r.NCand} }

func (k key) String() string {
	return fmt.Sprintf("%s | %s, %d v %d", k.gate, k.design, k.base, k.head)
}

// keys are the gates in the order of the rows, the product's own first.
func (f figures) keys() []key {
	var own, peers []key
	for _, r := range f.Rows {
		switch k := r.key(); {
		case slices.Contains(own, k) || slices.Contains(peers, k):
		case r.Code == "own":
			own = append(own, k)
		default:
			peers = append(peers, k)
		}
	}
	return append(own, peers...)
}

func (f figures) worlds() []string {
	var names []string
	for _, r := range f.Rows {
		if !slices.Contains(names, r.World) {
			names = append(names, r.World)
		}
	}
	return names
}

func (f figures) find(k key, world string) (row, bool) {
	for _, r := range f.Rows {
		if r.World == world && r.key() == k {
			return r, true
		}
	}
	return row{}, false
}

// powerWorlds are those whose power the document shows; the rest stands in the file.
var powerWorlds = []string{"typical", "quiet_outlier"}

// tell writes the tables as Markdown.
func (f figures) tell(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Simulated, by `%s`. ", f.Command)
	f.blocks(&b)
	f.power(&b)
	f.costs(&b)
	f.codes(&b)
	_, err := w.Write(b.Bytes())
	return err
}

func head(b *bytes.Buffer, columns ...string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

func percentOf(p float64) string { return fmt.Sprintf("%.1f", 100*p) }

// fewest are the smallest numbers of comparisons behind any row.
func (f figures) fewest() (reps, power int) {
	reps, power = math.MaxInt, math.MaxInt
	for _, r := range f.Rows {
		reps, power = min(reps, r.Reps), min(power, r.PowerReps)
	}
	return reps, power
}

// blocks is the table of false blocks.
func (f figures) blocks(b *bytes.Buffer) {
	reps, _ := f.fewest()
	worst := 0.0
	for _, r := range f.Rows {
		worst = math.Max(worst, r.SE)
	}
	fmt.Fprintf(b, "Of 100 comparisons of two equal builds, so many are blocked, counted in %d comparisons a cell. "+
		"The Monte Carlo error of a cell is %.2g at 2.5 and at most %.2g.\n\n", reps, 100*mcError(0.025, reps), 100*worst)
	worlds := f.worlds()
	head(b, append([]string{"gate", "runs"}, worlds...)...)
	for _, k := range f.keys() {
		cells := make([]string, len(worlds))
		for i, name := range worlds {
			if r, ok := f.find(k, name); ok {
				cells[i] = percentOf(r.FalseBlock)
			}
		}
		fmt.Fprintf(b, "| %s | %s |\n", k, strings.Join(cells, " | "))
	}
}

// power is a table of regressions caught, for each of the worlds that the document shows.
func (f figures) power(b *bytes.Buffer) {
	_, reps := f.fewest()
	columns := []string{"gate", "runs", "0"}
	for _, e := range effects {
		columns = append(columns, fmt.Sprintf("+%d %%", e))
	}
	for _, name := range powerWorlds {
		fmt.Fprintf(b, "\nOf 100 candidates whose TTFT is truly so much worse, so many are blocked in the world %s, counted in %d comparisons a cell: "+
			"Monte Carlo error at most %.2g.\n\n", name, reps, 100*mcError(0.5, reps))
		head(b, columns...)
		for _, k := range f.keys() {
			r, ok := f.find(k, name)
			if !ok {
				continue
			}
			cells := []string{percentOf(r.FalseBlock)}
			for _, e := range effects {
				cells = append(cells, fmt.Sprintf("%.0f", 100*r.Power[percentKey(e)]))
			}
			fmt.Fprintf(b, "| %s | %s |\n", k, strings.Join(cells, " | "))
		}
	}
}

// costs is the table of the other answers and of what they take, for the product's designs.
func (f figures) costs(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nThe other answers of benchgate to equal builds, of 100, the share of intervals that hold the truth, and what its job measures. "+
		"A run is taken to last %g minute and a start of the server with its warm-up %g.\n\n", f.RunMinutes, f.StartMinutes)
	head(b, "world", "design", "pass", "inconclusive", "improved", "coverage", "runs", "minutes")
	for _, k := range f.keys() {
		for _, name := range f.worlds() {
			r, ok := f.find(k, name)
			if !ok || r.Code != "own" {
				continue
			}
			coverage := ""
			if r.Coverage != nil {
				coverage = percentOf(*r.Coverage)
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %.1f | %.0f |\n", name, r.Design, percentOf(r.Pass), percentOf(r.Inconclusive),
				percentOf(r.Improved), coverage, r.MeanRuns, r.Minutes)
		}
	}
}

// codes says whose code decided.
func (f figures) codes(b *bytes.Buffer) {
	by := map[string][]string{}
	var order []string
	for _, r := range f.Rows {
		if r.Code == "own" {
			continue
		}
		if by[r.Code] == nil {
			order = append(order, r.Code)
		}
		if !slices.Contains(by[r.Code], r.Gate) {
			by[r.Code] = append(by[r.Code], r.Gate)
		}
	}
	b.WriteString("\nWhose code decided:\n\n")
	for _, code := range order {
		fmt.Fprintf(b, "- %s: %s\n", code, strings.Join(by[code], "; "))
	}
}
