package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/benchgate/benchgate/internal/gate"
)

// mostCharacters is what GitHub takes as the body of a comment.
const mostCharacters = 65_536

// Comment renders the verdict for a comment: at most limit bytes, and never more characters than GitHub takes. What is cut is
// said, and that the job's summary has more. Foreign text in it mentions nobody, links nowhere and breaks no table.
func Comment(v gate.Verdict, limit int) string {
	return markdown(v, size{limit, mostCharacters}, "The job's summary has more, report.html among its artifacts all.")
}

// Summary renders the verdict for a job's summary: at most limit bytes. What is cut is said, and that the HTML report has it.
func Summary(v gate.Verdict, limit int) string {
	return markdown(v, size{limit, limit}, "All of it is in report.html among the artifacts.")
}

// writeMarkdown renders for a file. It fits a comment, whoever posts it.
func writeMarkdown(w io.Writer, v gate.Verdict) error {
	_, err := io.WriteString(w, markdown(v, size{mostCharacters, mostCharacters}, "All of it is in report.html."))
	return err
}

// How much a comment shows openly; the rest is folded.
const (
	mostRows  = 12 // of the table, and of the drawing
	mostItems = 12 // names in one line
	mostNotes = 4  // warnings
	fewRows   = 6  // so few are shown whatever they say
)

// markdown drafts the comment and writes what there is room for. Where there is hardly any that is the verdict and the
// beginning of why.
func markdown(v gate.Verdict, most size, where string) string {
	if text, ok := drafted(v, where).fit(most); ok {
		return text
	}
	for n := bareWhy; n > 9; n -= 5 {
		if text := "## " + bareHeading(v) + "\n\n" + inlined(v.Summary, n) + "\n"; sizeOf(text).within(most) {
			return text
		}
	}
	return cutBytes(bareHeading(v), most)
}

// cutBytes keeps whole characters.
func cutBytes(s string, most size) string {
	for !sizeOf(s).within(most) && s != "" {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return s
}

// drafted is the whole comment. The keeps are its order of importance: a reviewer needs the verdict, why, and what is worst;
// then what to do; the runs are needed by nobody who has not read all the rest.
func drafted(v gate.Verdict, where string) draft {
	every := worstFirst(v.Findings)
	plan, calm := steps(v.Outcome, every)
	findings := slices.DeleteFunc(every, nameless)
	open, rest := opened(v, findings)
	var (
		title            = titleBlock(v)
		mind             = mindBlock(v)
		table            = tableBlock(open, findings, level(v))
		drawing          = drawingBlock(open)
		todo             = todoBlock(v, plan)
		with             = &block{name: "the baseline"}
		warnings, hushed = warningBlocks(v)
		more             = moreBlock(rest, findings, level(v))
		words            = wordsBlock(v, plan, calm)
		waived           = listBlock("the waivers", fmt.Sprintf("Waivers (%d)", len(v.Waivers)), waivers(v.Waivers))
		checks           = checksBlock(v)
		surround         = environmentBlock(v)
		account          = serverBlock(v)
		client           = clientBlock(v)
		starts           = listBlock("the attempts", fmt.Sprintf("Attempts (%d)", len(v.Attempts)), attempts(v.Attempts))
		method           = methodBlock(v, findings)
		runs             = runsBlock(findings)
	)
	if !green(v) {
		with.addText("\n" + inline(compared(v)) + "\n")
	}
	return draft{
		blocks: []*block{title, mind, table, drawing, todo, with, warnings, hushed, more, words, checks, waived, surround, account, client, starts, method, runs},
		keeps: []keep{
			{title, 2},
			{mind, everything},
			{table, 3},
			{title, everything},
			{warnings, min(2, len(v.Warnings))},
			{todo, 2},
			{table, fewRows},
			{drawing, fewRows},
			{with, everything},
			{checks, 2},
			{warnings, 2},
			{table, everything},
			{drawing, everything},
			{todo, everything},
			{warnings, everything},
			{hushed, everything},
			{checks, everything},
			{waived, everything},
			{more, everything},
			{words, everything},
			{surround, everything},
			{account, everything},
			{client, everything},
			{starts, everything},
			{method, everything},
			{runs, everything},
		},
		where: where,
	}
}

// green reports whether nobody has to look: the comment is a few lines, and the rest is folded.
func green(v gate.Verdict) bool {
	return v.ExitCode == 0 && (v.Outcome == gate.Pass || v.Outcome == gate.Improved || v.Outcome == gate.Observed)
}

// opened parts what a reviewer has to see from the rest.
func opened(v gate.Verdict, findings []gate.Finding) (open, rest []gate.Finding) {
	if green(v) {
		return nil, findings
	}
	n := len(findings)
	if n > fewRows {
		n = 0
		for n < len(findings) && n < mostRows && !calm(findings[n]) {
			n++
		}
		n = max(n, 1)
	}
	return findings[:n], findings[n:]
}

// nameless reports whether a finding is of no metric in particular: the verdict's sentence says it, and a row could not.
func nameless(f gate.Finding) bool { return f.Scenario == "" && f.Metric == "" }

// calm reports whether a finding asks for nothing.
func calm(f gate.Finding) bool {
	return f.Outcome == gate.Pass || f.Outcome == gate.Observed || f.Outcome == gate.Improved
}
