package main

import (
	"fmt"
	"math"
)

// promise is one sentence of what benchgate's client is to reach, and whether this run shows it.
type promise struct{ what, figure, limit, kept string }

// promises holds benchgate's rows against the best peer's and the bare loop's of the same run.
func (f figures) promises() []promise {
	error50 := func(r row) *float64 { return r.TTFTErrorP50 }
	error99 := func(r row) *float64 { return r.TTFTErrorP99 }
	cpu := func(r row) *float64 { return r.CPUPerEvent }
	peer := func(r row) bool { return r.Tool != ownName && r.Tool != bareName }
	bare := func(r row) bool { return r.Tool == bareName }
	return []promise{
		f.ratio("open, 512 streams: TTFT error p50, of the best peer's", open, error50, peer, 1.0/20),
		f.ratio("open, 512 streams: TTFT error p99, of the best peer's", open, error99, peer, 1.0/10),
		f.ratio("closed, 512 streams: TTFT error p50, of the best peer's", closed, error50, peer, 1.0/2),
		f.ratio("closed, 512 streams: TTFT error p99, of the best peer's", closed, error99, peer, 1.0/2),
		f.ratio("closed, 512 streams: TTFT error p50, of the bare loop's", closed, error50, bare, 1.5),
		f.ratio("closed, 512 streams: TTFT error p99, of the bare loop's", closed, error99, bare, 1.5),
		f.ratio("open, 512 streams: CPU per event, of the best peer's", open, cpu, peer, 1.0/3),
		f.ratio("closed, 512 streams: CPU per event, of the best peer's", closed, cpu, peer, 1.0/3),
		f.lossless(open), f.lossless(closed),
	}
}

// ratio compares a figure of benchgate's with the smallest of the others. Errors count by their size.
func (f figures) ratio(what, load string, figure func(row) *float64, other func(row) bool, limit float64) promise {
	p := promise{what: what, figure: "–", limit: fmt.Sprintf("%.3g", limit), kept: "not measured"}
	own, best := math.NaN(), math.Inf(1)
	for _, r := range f.medians() {
		v := figure(r)
		switch {
		case r.Load != load || r.Streams != promised || v == nil:
		case r.Tool == ownName:
			own = math.Abs(*v)
		case other(r):
			best = min(best, math.Abs(*v))
		}
	}
	if math.IsNaN(own) || math.IsInf(best, 1) || best == 0 {
		return p
	}
	p.figure, p.kept = fmt.Sprintf("%.3g", own/best), yesNo(own/best <= limit)
	return p
}

// inTime is how late a request may be sent in an open load that counts as kept: its p99, in ms.
const inTime = 50

// lossless says whether all events of the largest load came, and an open load's requests went out in time.
func (f figures) lossless(load string) promise {
	p := promise{what: fmt.Sprintf("%s, %d streams: lost events", load, most), figure: "–", limit: "0", kept: "not measured"}
	if load == open {
		p.what, p.limit = p.what+"; lateness p99; requests/s", fmt.Sprintf("0; %d ms; within 2 %%", inTime)
	}
	for _, r := range f.medians() {
		if r.Tool != ownName || r.Load != load || r.Streams != most || r.LostEvents == nil || r.AchievedRate == nil || r.LateP99 == nil {
			continue
		}
		p.figure = fmt.Sprint(*r.LostEvents)
		kept := *r.LostEvents == 0 && r.Failed == 0
		if load == open {
			p.figure += fmt.Sprintf("; %.3g ms; %.4g of %.4g", *r.LateP99, *r.AchievedRate, r.WantedRate)
			kept = kept && *r.LateP99 <= inTime && math.Abs(*r.AchievedRate/r.WantedRate-1) <= 0.02
		}
		p.kept = yesNo(kept)
	}
	return p
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
