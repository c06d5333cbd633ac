package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/ingest"
	"github.com/benchgate/benchgate/internal/report"
	"github.com/benchgate/benchgate/internal/server"
	"github.com/benchgate/benchgate/internal/stat"
)

// measure runs a campaign, writes all that came of it and prints the middle of it.
func measure(sh *shell, o campaign.Options, out string) error {
	log, err := gather(sh, o, out)
	if err != nil {
		return err
	}
	tellServers(sh, sides(log))
	tellResults(sh.stdout, sides(log), filepath.Join(out, o.Plan.Config.Runner))
	return nil
}

// tellServers says, a line a scenario, what its server says of itself beside what the client saw.
func tellServers(sh *shell, digests []bench.Digest) {
	for _, d := range digests {
		if a, known := gate.AccountOf(d); known {
			if line := report.Server(a); line != "" {
				sh.talk.say("server, %s: %s", d.Scenario, line)
			}
		}
	}
}

// gather measures what is missing and writes all that came of it, even when it ended early.
func gather(sh *shell, o campaign.Options, out string) (bench.CampaignLog, error) {
	runner := o.Plan.Config.Runner
	if err := ours(out, runner); err != nil {
		return bench.CampaignLog{}, err
	}
	res, err := campaign.Run(sh.ctx, o)
	if errors.Is(err, campaign.ErrBusy) {
		return res.Log, err
	}
	if discardErr := discard(out, runner); discardErr != nil {
		return res.Log, errors.Join(err, discardErr)
	}
	if left(res, err) {
		err = errors.Join(err, writeResults(res, o.Plan, out, secrets(sh, o)))
	}
	switch {
	case err != nil:
		tellRest(sh, res, filepath.Join(out, runner))
	case res.Measured == 0:
		sh.talk.say("nothing was missing: this commit, plan and baseline were measured before (--fresh measures anew)")
	}
	return res.Log, err
}

// left reports whether a campaign left anything that is worth a place among the results.
func left(res campaign.Result, err error) bool {
	var server *campaign.ServerError
	return res.Log.Header.Schema != "" || errors.As(err, &server)
}

// secrets are what no log of a server may show.
func secrets(sh *shell, o campaign.Options) []string {
	all := server.Secrets(o.Plan.Config.Target, o.APIKey, sh.getenv)
	if r := o.Plan.Config.Reference; r != nil {
		all = append(all, server.Secrets(*r, o.ReferenceKey, sh.getenv)...)
	}
	return all
}

// sides are the digests of both, scenario by scenario, the reference's named so.
func sides(log bench.CampaignLog) []bench.Digest {
	var all []bench.Digest
	references := campaign.References(log)
	for _, d := range campaign.Digests(log) {
		for _, r := range references {
			if r.Scenario == d.Scenario {
				r.Scenario += " (reference)"
				all = append(all, r)
			}
		}
		all = append(all, d)
	}
	return all
}

// writeResults copies the campaign's folder and writes digests, rows and vLLM-shaped files beside it. Of a server that never
// became ready there is its log alone.
func writeResults(res campaign.Result, plan campaign.Plan, out string, secrets []string) error {
	folder := filepath.Join(out, plan.Config.Runner)
	if err := copyFolder(res.Folder, folder, secrets); err != nil {
		return fmt.Errorf("copy campaign: %w", err)
	}
	if res.Log.Header.Schema == "" {
		return nil
	}
	if err := writeSide(res.Log, "candidate", campaign.Digests(res.Log), folder); err != nil {
		return err
	}
	if err := writeSide(res.Log, "reference", campaign.References(res.Log), filepath.Join(folder, referenceFolder)); err != nil {
		return err
	}
	return writeVLLM(res.Log, plan, filepath.Join(out, "vllm"))
}

// writeSide writes digests and rows of one side.
func writeSide(log bench.CampaignLog, side string, digests []bench.Digest, folder string) error {
	for _, d := range digests {
		path := filepath.Join(folder, d.Scenario+".json")
		if err := writeFile(path, func(f *os.File) error { return bench.WriteDigest(f, d) }); err != nil {
			return err
		}
		path = filepath.Join(folder, d.Scenario+".rows.jsonl")
		if err := writeFile(path, func(f *os.File) error { return bench.WriteRows(f, rows(log, side, d.Scenario)) }); err != nil {
			return err
		}
	}
	return nil
}

// tellRest says what an ended campaign left.
func tellRest(sh *shell, res campaign.Result, folder string) {
	runs := 0
	for _, r := range res.Log.Runs {
		if !r.WarmUp {
			runs++
		}
	}
	if runs > 0 {
		sh.talk.say("measured so far: %d runs, in %s", runs, folder)
	}
	if sh.ctx.Err() != nil {
		sh.talk.say("interrupted: everything measured is on disk, and the same command measures the rest")
	}
}

// copyFolder copies a campaign. Its server's log may hold what the server was told in confidence: that is blotted out.
func copyFolder(from, to string, secrets []string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return writeFile(filepath.Join(to, rel), func(f *os.File) error {
			if serverLog.MatchString(path) {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				_, err = f.Write(server.Redact(text, secrets))
				return err
			}
			in, err := os.Open(path)
			if err != nil {
				return err
			}
			defer in.Close()
			_, err = io.Copy(f, in)
			return err
		})
	})
}

// serverLog are the names of servers' logs, those of a campaign that was set aside among them.
var serverLog = regexp.MustCompile(`\.log(\.old-[0-9]+)?$`)

// rows are the integer rows of every measured run of a scenario on one side.
func rows(log bench.CampaignLog, side, scenario string) []bench.Rows {
	var all []bench.Rows
	for _, r := range log.Runs {
		if r.Scenario != scenario || r.WarmUp || campaign.VisitOf(log, r.Visit).Side != side {
			continue
		}
		all = append(all, bench.RowsOf(r.Order, log.RequestsOf(r.Order)))
	}
	return all
}

func writeVLLM(log bench.CampaignLog, plan campaign.Plan, folder string) error {
	for _, r := range log.Runs {
		if r.WarmUp {
			continue
		}
		visit := campaign.VisitOf(log, r.Visit)
		name := log.Header.Runner + "-" + r.Scenario
		meta := metadata(log, plan, r.Scenario)
		if model := visit.MustMatch[bench.KeyModel]; model != "" {
			meta["model_id"] = model
		}
		if visit.Side == "reference" {
			name += "-" + referenceFolder
			meta["side"] = visit.Side
		}
		path := filepath.Join(folder, fmt.Sprintf("%s-run%03d.json", name, r.Order))
		err := writeFile(path, func(f *os.File) error {
			w := bufio.NewWriter(f)
			return errors.Join(ingest.WriteVLLM(w, r.Run, log.RequestsOf(r.Order), log.Header.SLOs[r.Scenario], meta), w.Flush())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// metadata is what a result file of vllm bench serve says of the load, and what else a reader may want to know.
func metadata(log bench.CampaignLog, plan campaign.Plan, scenario string) map[string]any {
	meta := map[string]any{
		"runner": log.Header.Runner, "scenario": scenario, "benchgate_campaign": log.Header.Campaign,
		"model_id": log.Header.MustMatch[bench.KeyModel],
	}
	s, ok := plan.Config.Scenario(scenario)
	if !ok {
		return meta
	}
	meta["burstiness"] = s.Load.Burstiness
	switch l := s.Load; {
	case !l.Open():
		meta["request_rate"], meta["max_concurrency"] = "inf", l.Concurrency
	case l.MaxConcurrency > 0:
		meta["request_rate"], meta["max_concurrency"] = l.Rate, l.MaxConcurrency
	default:
		meta["request_rate"] = l.Rate
	}
	return meta
}

// tellResults prints, a scenario at a time, the middle of the runs and how far they differ.
func tellResults(w io.Writer, digests []bench.Digest, folder string) {
	var buf bytes.Buffer
	tab := tabwriter.NewWriter(&buf, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "scenario\tmetric\tgeometric mean\trun-to-run\truns")
	for _, d := range digests {
		for _, name := range []string{"ttft.p50", "ttft.p95", "tpot.mean", "e2el.p95", "output.rate", "error.ratio"} {
			if line, ok := spread(d, name); ok {
				fmt.Fprintln(tab, line)
			}
		}
	}
	tab.Flush()
	for _, d := range digests {
		if h, known := gate.HealthOf(d); known {
			fmt.Fprintf(&buf, "client, %s: %s\n", d.Scenario, report.Client(h))
		}
	}
	for _, d := range digests {
		if d.Simulated {
			fmt.Fprintln(&buf, "simulated: these numbers come from a server that only plays one")
			break
		}
	}
	fmt.Fprintf(&buf, "digests: %s\n", folder)
	_, _ = w.Write(buf.Bytes())
}

func spread(d bench.Digest, name string) (string, bool) {
	m, err := bench.ParseMetric(name)
	if err != nil {
		return "", false
	}
	var values []float64
	for _, r := range allRuns(d) {
		if v, ok := r.Metrics[name]; ok && r.Valid() {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return "", false
	}
	mid, err := stat.GeoMean(values)
	if err != nil {
		mid, _ = stat.Mean(values)
		return fmt.Sprintf("%s\t%s\t%s\t\t%d", d.Scenario, name, quantity(mid, m.Unit), len(values)), true
	}
	low, high := slices.Min(values), slices.Max(values)
	return fmt.Sprintf("%s\t%s\t%s\t%s to %s\t%d", d.Scenario, name, quantity(mid, m.Unit),
		quantity(low, m.Unit), quantity(high, m.Unit), len(values)), true
}

// quantity writes a value whose interval is not known.
func quantity(v float64, unit bench.Unit) string { return report.Quantity(v, string(unit), 0) }
