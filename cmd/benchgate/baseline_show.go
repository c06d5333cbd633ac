package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// plannedRuns are those of a candidate as campaign.runs has them unless set.
const plannedRuns = 5

type baselineShowCmd struct {
	folderFlag
	Runner   string `arg:""`
	Scenario string `arg:""`
}

// Run shows one baseline.
func (c baselineShowCmd) Run(sh *shell) error {
	entry, err := baseline.Show(c.Folder, c.Runner, c.Scenario)
	if err != nil {
		return err
	}
	d := entry.Digest
	tellSessions(sh.stdout, d)
	for i := range d.Sessions {
		if why, ok := baseline.SameDay(d, i); ok {
			fmt.Fprintf(sh.stdout, "\nwarning: %s\n", why)
		}
	}
	tellOutlook(sh.stdout, gate.Outlook(gate.Defaults(), d, plannedRuns))
	if d.Simulated {
		fmt.Fprintln(sh.stdout, "\nsimulated: these numbers come from a server that only plays one")
	}
	return nil
}

// tellSessions prints where a baseline comes from.
func tellSessions(w io.Writer, d bench.Digest) {
	fmt.Fprintf(w, "%s on %s: epoch %d, %d of at most %d sessions, %d runs\n", d.Scenario, d.Runner, d.Epoch.Number,
		len(d.Sessions), bench.MostSessions, len(allRuns(d)))
	if e := d.Epoch; !e.Started.IsZero() {
		fmt.Fprintf(w, "the epoch began %s, accepted by %s", day(e.Started), e.Who)
		if e.Reason != "" {
			fmt.Fprintf(w, ": %s", e.Reason)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	tab := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "session\tbegan\truns\tengine\tcommit\taccepted\twhy")
	for _, s := range d.Sessions {
		fmt.Fprintf(tab, "%s\t%s\t%d\t%s\t%s\t%s by %s\t%s\n", s.ID, day(s.Started), len(s.Runs()), cmp.Or(s.Origin.Engine, "–"),
			cmp.Or(short(s.Origin.Commit), "–"), day(s.Origin.Accepted), cmp.Or(s.Origin.Who, "nobody"), cmp.Or(s.Origin.Why, "–"))
	}
	_ = tab.Flush()
}

func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format(time.DateOnly)
}

// short is a commit as people write it.
func short(commit string) string { return commit[:min(len(commit), 12)] }

// tellOutlook prints what a baseline can see.
func tellOutlook(w io.Writer, all []gate.Prospect) {
	if len(all) == 0 {
		fmt.Fprintln(w, "\nno metric has enough successes in three runs or more: nothing can be compared with it")
		return
	}
	fmt.Fprintln(w)
	tab := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "metric\tlevel\truns differ\tdays differ\tfinds\twith one more session")
	for _, x := range all {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", x.Metric.Name, quantity(x.Level, x.Metric.Unit), apart(x, x.RunSD), apart(x, x.DaySD)+seen(x),
			worseBy(x, &x.MDE80), worseBy(x, x.Further))
	}
	_ = tab.Flush()
	fmt.Fprintf(w, `
runs differ, days differ: standard deviations between the runs of a session, and between sessions beyond that
finds: the smallest worsening that a candidate of %d runs is called regressed for four times in five (day_sd at its default)
`, plannedRuns)
	told := false
	for _, x := range all {
		if x.Since == "" {
			continue
		}
		if !told {
			fmt.Fprintln(w, "\nsince the epoch began:")
			told = true
		}
		fmt.Fprintf(w, "%s is %s\n", x.Metric.Name, x.Since)
	}
	if !told {
		fmt.Fprintln(w, "\nsince the epoch began: nothing to compare yet, or its level is not known")
	}
}

// apart is a spread; that of shares is on the logit and has no unit.
func apart(x gate.Prospect, sd float64) string {
	if x.Metric.Scale == bench.Logit {
		return fmt.Sprintf("%.2f (logit)", sd)
	}
	return fmt.Sprintf("%.1f %%", 100*sd)
}

// seen says what the sessions alone show of how far days differ; one session shows nothing.
func seen(x gate.Prospect) string {
	if x.Seen == nil {
		return " (assumed)"
	}
	return fmt.Sprintf(" (seen %s)", apart(x, *x.Seen))
}

func worseBy(x gate.Prospect, by *float64) string {
	switch {
	case by == nil:
		return "–"
	case x.Metric.Scale == bench.Logit:
		return fmt.Sprintf("%.0f points", math.Ceil(*by*100-1e-9))
	}
	return fmt.Sprintf("%.0f %%", *by*100)
}
