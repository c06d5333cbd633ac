package main

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// hostile puts what an attacker would write wherever a stranger's text can stand.
func hostile(v gate.Verdict) gate.Verdict {
	const names = "x | y <!-- --> @everyone ![a](https://evil.example/p.png) `` <script>alert(1)</script>"
	const ansi = "\x1b[31m::error::red\x1b[0m\r\n::error file=a.go,line=1::owned\n##[error]owned ]]> \u202egnitrever\u202c \x00\x07"
	long := strings.Repeat("CUDA error: an illegal memory access\n```\n::set-output name=x::y\n# head #1 org/repo#2 GH-3 <details> @octo/team ", 120)[:10_000]
	v.Runner, v.Summary = names, names+": "+ansi+long
	v.Bound += " " + names
	for i := range v.Findings {
		f := &v.Findings[i]
		f.Scenario = names
		if i > 0 {
			f.Scenario = fmt.Sprintf("</title><img src=x onerror=alert(%d)>", i)
		}
		f.Why += " " + ansi + long
		if f.Next != "" {
			f.Next = "::error::" + names + " " + f.Next + ansi
		}
		f.Warnings = []string{names, ansi, long}
		f.Rule.File = "a`b|c<d>\n::error::.yaml"
	}
	for i := range v.Findings[0].Runs {
		v.Findings[0].Runs[i].Note = names + ansi
		v.Findings[0].Runs[i].Session = ansi + names
	}
	for i := range v.Series {
		v.Series[i].Scenario = names
	}
	v.Validity = append(v.Validity, gate.Check{Scenario: names, Side: "head", Name: ansi, Detail: long})
	v.Server = []gate.Account{{Scenario: names, Side: ansi, Runs: 5, Source: long, TTFTFrom: names, TTFT: 0.1, ClientTTFT: 0.12, Gap: ptr(-0.02), Counters: names + ansi, CachedTokens: ptr(0.5), ChunkTokens: 3}}
	v.Environment.Diff = append(v.Environment.Diff, gate.Fact{Name: names, Base: ansi, Head: long}, gate.Fact{Scenario: "javascript:alert(1)", Name: "::error::", Head: "[click](javascript:alert(1))"})
	v.Baseline = &gate.Baseline{Ref: names, AgeDays: 2, Sessions: 5, Origin: gate.Origin{Commit: "deadbeef0123", Engine: names, Who: "@everyone", Why: ansi + names}}
	v.Attempts = []gate.Attempt{{At: headDay, What: names + ansi}}
	v.Waivers = []gate.WaiverUse{{Waiver: gate.Waiver{Metric: names, Scenario: ansi, Ceiling: 0.1, Until: headDay, Why: long}, State: "unused"}}
	v.Warnings = []string{names, ansi, long}
	return v
}
