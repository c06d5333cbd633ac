package report

import (
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// compared is a sentence on what the candidate was compared with, or would be if there were one.
func compared(v gate.Verdict) string {
	if v.At.IsZero() {
		return "To be compared with " + opponent(v) + "."
	}
	return "Compared with " + opponent(v) + "."
}

// opponent says what the candidate was compared with, as the design has it.
func opponent(v gate.Verdict) string {
	const turns = "the build at base, started in turn with the candidate"
	switch v.Design {
	case "interleaved":
		return turns
	case "confirm":
		switch {
		case v.Baseline == nil:
			return turns
		case len(v.Unconfirmed()) > 0:
			return against(v) + "; the second stage, with " + turns + ", is not measured"
		}
		return against(v) + ". What that left open was decided with " + turns
	}
	return against(v)
}

// since says how the baseline stands to where its epoch began; empty where that is not known.
func since(v gate.Verdict) string {
	if v.Baseline == nil {
		return ""
	}
	return v.Baseline.SinceEpoch
}

// at says when the answer to a finding was given: "look 2 of 3 (8 visits a side)", "stage 1".
func at(f gate.Finding) string {
	if f.Look == "" || strings.HasPrefix(f.Look, "stage") {
		return name(f.Look)
	}
	return "look " + name(f.Look)
}

// course says what the order of the visits did to both sides: "both sides 3 % slower from the first visit to the last".
// Empty where no order is in the model.
func course(f gate.Finding) string {
	if f.Change == nil || f.Change.Order == nil {
		return ""
	}
	return "both sides " + slight(f, *f.Change.Order) + " from the first visit to the last"
}

// days says how far sessions seem to differ: "days differ by 4 % (standard deviation)".
func days(f gate.Finding) string {
	if f.Change == nil || f.Change.DaySD == nil {
		return ""
	}
	sd := *f.Change.DaySD
	if f.Unit == string(bench.Ratio) {
		return "days differ by " + digits(sd, sd/2) + " (standard deviation of the logit)"
	}
	return "days differ by " + digits(sd*100, sd*50) + " % (standard deviation)"
}

// slight says a worsening without an interval, to two digits.
func slight(f gate.Finding, x float64) string {
	word, better := direction(f)
	if x < 0 {
		word, x = better, -x
	}
	unit := " % "
	if f.Unit == string(bench.Ratio) {
		unit = " points "
	}
	return digits(x*100, x*25) + unit + word
}

// besides is what the model says but for the change: the course of the campaign, how far days differ, and what one more
// session would buy.
func besides(f gate.Finding) string {
	parts := []string{}
	for _, s := range []string{course(f), days(f)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	s := strings.Join(parts, "; ")
	if s != "" && f.Further != "" {
		s += ". "
	}
	return s + prose(f.Further)
}
