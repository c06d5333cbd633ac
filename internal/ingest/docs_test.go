package ingest

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

const page = "../../docs/vllm.md"

// difference is one thing that benchgate does otherwise on purpose, and the streams that show it.
type difference struct {
	Title, Theirs, Ours, Why string
	cases                    []string
}

var differences = []difference{
	{
		"Reasoning in `reasoning_content`", "does not know the field (llama-server, SGLang, DeepSeek), so the first token is that of the answer, while the count of tokens includes the reasoning.",
		"the first token is the first one, of whatever kind; `ttfot` is the time to the first of the answer.",
		"a time to first token that holds the whole reasoning, and a time per token that divides the rest by all tokens, move with the length of the thoughts.",
		[]string{"reasoning_content", "reasoning_in_turns", "reasoning_content_only"},
	},
	{
		"Other output that is not in `content`", "looks at the first choice only, and does not know `refusal`.", "takes any output of any choice.",
		"the server generated it, and the client waited for it.",
		[]string{"refusal", "second_choice"},
	},
	{
		"Chunks of empty text", "takes a chunk with `content: \"\"` and without a role, and any chunk of completions, for a token.", "takes a chunk for a token when something is in it.",
		"many servers put an empty text beside the finish reason: the latency then ends with that chunk, however late it comes. The price: a token that decodes to nothing is dated by the next chunk.",
		[]string{"empty_text_at_the_end", "empty_text_between", "empty_answer_with_text", "completions_empty_text", "completions_special_tokens"},
	},
	{
		"The count of tokens", "reads usage only in a chunk without output; else it tokenises the text itself.", "reads usage wherever it stands; without any it counts chunks, and says so.",
		"the server knows what it generated; a text tokenised again has a length of its own.",
		[]string{"usage_with_text", "no_usage", "completions_usage_with_choices"},
	},
	{
		"Errors in a stream that began well", "does not look at them: a stream with one token has succeeded.", "fails the request.",
		"a short answer is fast. A build that breaks answers must not gain by it.",
		[]string{"error_in_stream", "gave_up"},
	},
	{
		"Streams that end too early", "an end is an end, with or without a finish reason.", "wants a finish reason, or [DONE] after a count.",
		"a proxy that loses its server ends the stream cleanly.",
		[]string{"truncated", "truncated_with_done"},
	},
	{
		"Answers of another length", "takes what comes.", "fails an answer longer than what was asked for, and a shorter one where the server can be made to write exactly so many.",
		"two builds are compared over the same work, or not at all.",
		[]string{"too_long", "too_short"},
	},
	{
		"Connections that break after the answer", "fails the request.", "takes an answer that was complete with its count.",
		"all that was to be measured had come.",
		[]string{"cut_after_the_end", "cut_after_the_count"},
	},
	{
		"The framing of events", "knows one line `data: …` an event, or a comment: anything else fails the request or drops the event.", "reads events by the standard.",
		"gateways and proxies send what the standard allows.",
		[]string{"no_space", "no_space_later", "event_lines", "retry_line", "comment_before_data", "comment_after_data", "data_lines", "empty_data", "byte_order_mark"},
	},
}

// unknowable says why the record cannot tell what vllm bench serve makes of a stream.
var unknowable = []struct{ name, why string }{
	{"crlf_coalesced", "it waits for a blank line of LF, or for text that is JSON: two such events in one read, and every later one is lost; with an event a read all are seen. Warned of"},
	{"late_blank_line", "it dates an event when its JSON is complete, benchgate at the blank line that ends it"},
	{"no_last_blank_line", "by the standard an event without its blank line is lost. Warned of"},
	{"after_the_error", "benchgate leaves at the error"},
	{"runs_on", "benchgate leaves a stream that runs on past twice of what was asked for. Warned of"},
}

// isUnknowable reports whether a stream is one of them.
func isUnknowable(name string) bool {
	for _, u := range unknowable {
		if u.name == name {
			return true
		}
	}
	return false
}

// told is a request in words.
func told(success bool, ttft, e2el float64, tokens int) string {
	if !success {
		return "failed"
	}
	ms := func(seconds float64) string { return fmt.Sprintf("%.4g ms", 1000*seconds) }
	tpot := "no tpot"
	switch {
	case tokens > 1:
		tpot = "tpot " + ms((e2el-ttft)/float64(tokens-1))
	case tokens == 0:
		tpot = "tpot by its tokenizer"
	}
	return fmt.Sprintf("ttft %s, %s, e2el %s", ms(ttft), tpot, ms(e2el))
}

func (t theirs) words() string { return told(t.Success, t.TTFT, t.Latency, t.OutputTokens) }

// strict is a request of ours in words; a failure has its class.
func strict(q bench.Request) string {
	if q.Class != bench.OK {
		return "failed: `" + string(q.Class) + "`"
	}
	return ours(q).words()
}

type row struct{ What, Theirs, Ours, Why string }

// TestDocsOfTheDifferencesAreThoseOfTheStreams writes docs/vllm.md. Every recorded stream stands in one of its tables.
func TestDocsOfTheDifferencesAreThoseOfTheStreams(t *testing.T) {
	r := record(t)
	played := map[string]bench.Request{}
	for _, s := range r.Cases {
		played[s.Name] = s.played(t, r.Start)
	}
	type section struct {
		difference
		Rows []row
	}
	var view struct {
		Cases         int
		MadeWith      string
		Differences   []section
		Alike, Limits []row
	}
	view.Cases, view.MadeWith = len(r.Cases), r.MadeWith
	seen := map[string]bool{}
	for _, d := range differences {
		s := section{difference: d}
		for _, name := range d.cases {
			c := r.stream(t, name)
			seen[name] = true
			line := row{What: c.What, Theirs: c.VLLM.words(), Ours: strict(played[name])}
			if line.Theirs == line.Ours {
				t.Errorf("%s: both say %s: no difference", name, line.Ours)
			}
			s.Rows = append(s.Rows, line)
		}
		view.Differences = append(view.Differences, s)
	}
	for _, u := range unknowable {
		c := r.stream(t, u.name)
		seen[u.name] = true
		view.Limits = append(view.Limits, row{c.What, c.VLLM.words(), ours(vllmRequest(played[u.name])).words(), u.why})
	}
	for _, c := range r.Cases {
		if seen[c.Name] {
			continue
		}
		mine := strict(played[c.Name])
		if c.VLLM.Success != (played[c.Name].Class == bench.OK) || c.VLLM.Success && c.VLLM.words() != mine {
			t.Errorf("%s stands in no table, and differs: %s, %s", c.Name, c.VLLM.words(), mine)
		}
		view.Alike = append(view.Alike, row{What: c.What, Ours: mine})
	}
	compareDoc(t, view)
}

func compareDoc(t *testing.T, view any) {
	t.Helper()
	text, err := template.ParseFiles("testdata/parity/page.md")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := text.Execute(&b, view); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("docs/vllm.md is not current; run: make schema\n(-file +made):\n%s", diff)
	}
}

func TestNoStreamIsListedTwice(t *testing.T) {
	var all []string
	for _, d := range differences {
		all = append(all, d.cases...)
	}
	for _, u := range unknowable {
		all = append(all, u.name)
	}
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("a stream stands twice in %v", all)
	}
}
