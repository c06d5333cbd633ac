package bench_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// records is a short campaign: two runs, one of them complete.
func records() []bench.Record {
	return []bench.Record{
		{Header: &bench.Header{Schema: bench.CampaignSchema, Campaign: "20261103-1", Started: at("2026-11-03T09:00:00Z"), Runner: "h100-1x", Key: "k", Plan: "p", Tool: "benchgate devel"}},
		{Visit: &bench.VisitRecord{Number: 1, Side: "candidate", Started: at("2026-11-03T09:00:01Z"), Log: "server-1.log"}},
		{Request: &bench.RequestRecord{Scenario: "chat", Order: 1, Request: answer(0, 0.1, 0.3, 3)}},
		{Request: &bench.RequestRecord{Scenario: "chat", Order: 1, Request: bench.Request{Index: 1, Sent: 0.1, End: 0.2, Class: bench.HTTP5xx, Status: 500, Error: "no <slots>"}}},
		{Run: &bench.RunRecord{Scenario: "chat", Visit: 1, Run: bench.Run{Order: 1, Sent: 2, OK: 1, Failed: map[bench.Class]int{bench.HTTP5xx: 1}, Metrics: map[string]float64{"ttft.p50": 0.1}}}},
		{Warning: &bench.Warning{At: at("2026-11-03T09:00:09Z"), Code: "cache", Message: "prompts were cached"}},
		{Request: &bench.RequestRecord{Scenario: "chat", Order: 2, Request: answer(0, 0.1, 0.3, 3)}},
	}
}

func lines(t testing.TB, records []bench.Record) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range records {
		if err := bench.WriteRecord(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func read(t *testing.T, file string) *bench.CampaignLog {
	t.Helper()
	log, err := bench.ReadCampaign(strings.NewReader(file), "campaign.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestCampaignIsReadAsItWasWritten(t *testing.T) {
	all := records()
	file := lines(t, all)
	want := &bench.CampaignLog{
		Header: *all[0].Header, Visits: []bench.VisitRecord{*all[1].Visit}, Runs: []bench.RunRecord{*all[4].Run},
		Requests: map[int][]bench.RequestRecord{1: {*all[2].Request, *all[3].Request}, 2: {*all[6].Request}},
		Warnings: []bench.Warning{*all[5].Warning}, Whole: int64(len(file)),
	}
	log := read(t, file)
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if !log.Complete(1) || log.Complete(2) {
		t.Error("run 1 is complete, run 2 is not")
	}
}

// A process may be killed after any byte.
func TestCampaignIsReadableWhereverItWasCut(t *testing.T) {
	file := lines(t, records())
	first := strings.Index(file, "\n") + 1
	for n := first; n <= len(file); n++ {
		log, err := bench.ReadCampaign(strings.NewReader(file[:n]), "campaign.jsonl")
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		whole := strings.LastIndex(file[:n], "\n") + 1
		if log.Whole != int64(whole) || log.Cut != (whole < n) {
			t.Fatalf("cut after %d bytes: whole %d, cut %v, want %d, %v", n, log.Whole, log.Cut, whole, whole < n)
		}
	}
	for n := range first {
		if _, err := bench.ReadCampaign(strings.NewReader(file[:n]), "campaign.jsonl"); err == nil {
			t.Fatalf("a campaign without a whole header, cut after %d bytes, is read", n)
		}
	}
}

func TestCampaignGoesOnWhereItWasCut(t *testing.T) {
	file := lines(t, records())
	killed := file[:len(file)-7]
	log := read(t, killed)
	more := records()
	rest := lines(t, []bench.Record{more[0], more[1], more[6], {Run: &bench.RunRecord{Scenario: "chat", Visit: 2, Run: bench.Run{Order: 2, Sent: 1, OK: 1}}}})
	log = read(t, killed[:log.Whole]+rest)
	if log.Cut || len(log.Runs) != 2 || len(log.Requests[2]) != 1 {
		t.Errorf("after going on: %+v", log)
	}
}

// An interrupted run may be measured anew under its order once the server was started again.
func TestRequestsOfAnInterruptedRunGiveWayToItsRepetition(t *testing.T) {
	all := records()
	again := *all[6].Request
	again.FirstToken = 0.2
	file := lines(t, append(all, all[1], bench.Record{Request: &again}))
	if got := read(t, file).Requests[2]; len(got) != 1 || got[0].FirstToken != 0.2 {
		t.Errorf("requests of run 2: %+v", got)
	}
	if got := read(t, lines(t, append(all, all[1]))).Requests[2]; len(got) != 1 {
		t.Errorf("requests of an interrupted run are lost: %+v", got)
	}
}

func TestZerosAfterAPowerCutAreAHalfWrittenLine(t *testing.T) {
	file := lines(t, records())
	if log := read(t, file+strings.Repeat("\x00", 4096)); !log.Cut || log.Whole != int64(len(file)) {
		t.Errorf("cut %v, whole %d of %d", log.Cut, log.Whole, len(file))
	}
}

func TestDamagedCampaignsAreRefused(t *testing.T) {
	all := records()
	whole := lines(t, all)
	first := strings.Index(whole, "\n") + 1
	swap := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("the example holds no %q", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	other := *all[0].Header
	other.Key = "another"
	for name, c := range map[string]struct{ file, want string }{
		"zero bytes":              {"", "empty file"},
		"a digest":                {written(t, example()), "line 1, column 1: not a file with schema benchgate.campaign/v1"},
		"no header":               {whole[first:], "line 1: no header"},
		"another kind":            {swap(bench.CampaignSchema, bench.RowsSchema), `line 1: schema is "benchgate.rows/v1"`},
		"newer major":             {swap(bench.CampaignSchema, "benchgate.campaign/v2"), "line 1: schema is"},
		"header twice":            {whole + lines(t, []bench.Record{{Header: &other}}), "line 8: a second header"},
		"half a line in between":  {whole[:first-9] + "\n" + whole[first:], "line 1"},
		"half a line, then whole": {whole + `{"warning":{` + "\n" + lines(t, all[5:6]), "line 8, column 12: the file ends too early"},
		"bad last line":           {whole + "{]\n", "line 8, column 2"},
		"empty line":              {whole + "\n", "line 8: empty line"},
		"nothing in a line":       {whole + "{}\n", "line 8: 0 of header"},
		"two things in a line":    {swap(`{"warning":`, `{"visit":{"visit":9,"side":"candidate","started":"2026-11-03T09:00:00Z"},"warning":`), "line 6: 2 of header"},
		"NaN":                     {swap(`"first_token":0.1`, `"first_token":NaN`), "NaN is not a measurement"},
		"null":                    {swap(`"first_token":0.1`, `"first_token":null`), "line 3, column 85: null stands"},
		"negative time":           {swap(`"first_token":0.1`, `"first_token":-0.1`), "run 1, request 0: first_token is -0.1"},
		"negative gap":            {swap(`"gaps":[`, `"gaps":[-0.1,`), "line 3: run 1, request 0: gaps is -0.1"},
		"token before sending":    {swap(`"sent":0,`, `"sent":0.2,`), "not in this order"},
		"no class":                {swap(`"class":"ok"`, `"class":""`), "no class"},
		"run twice":               {whole + lines(t, all[4:5]), "line 8: run 1 stands twice"},
		"request twice":           {whole + lines(t, all[6:7]), "line 8: run 2: request 0 stands twice"},
		"request after the end":   {whole + strings.Replace(lines(t, all[2:3]), `"i":0`, `"i":7`, 1), "line 8: run 1: a request after the end"},
		"counts do not add up":    {swap(`"ok":1`, `"ok":2`), "line 5: run 1: sent 2, but ok 2 and failed 1"},
		"conflict marker":         {whole + "<<<<<<< HEAD\n" + whole, `line 8: a merge conflict marker "<<<<<<< HEAD"`},
		"LFS pointer":             {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "line 1: a Git LFS pointer"},
		"deep nesting":            {whole + `{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}\n", "line 8, column 37: nested deeper"},
		"two values in a line":    {whole + `{"visit":{"visit":2}} {}` + "\n", "line 8"},
		"wrong type":              {swap(`"i":0`, `"i":"0"`), "line 3"},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := bench.ReadCampaign(strings.NewReader(c.file), "campaign.jsonl")
			if err == nil {
				t.Fatalf("read as %+v", log)
			}
			if !strings.HasPrefix(err.Error(), `read campaign "campaign.jsonl": line `) && name != "zero bytes" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestRecordsThatCouldNotBeReadAreNotWritten(t *testing.T) {
	nan := answer(0, 0.1, 0.3, 3)
	nan.LastToken = math.NaN()
	for name, r := range map[string]bench.Record{
		"nothing":     {},
		"two things":  {Visit: &bench.VisitRecord{}, Warning: &bench.Warning{}},
		"NaN":         {Request: &bench.RequestRecord{Request: nan}},
		"lost counts": {Run: &bench.RunRecord{Run: bench.Run{Sent: 3, OK: 2}}},
	} {
		var b bytes.Buffer
		if err := bench.WriteRecord(&b, r); err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v, %q written", name, err, b.String())
		}
	}
}

func TestFailedRequestsMayHaveAnyMoments(t *testing.T) {
	q := bench.Request{Index: 0, Sent: 1, FirstToken: 0.5, Class: bench.Reset}
	var b bytes.Buffer
	if err := bench.WriteRecord(&b, bench.Record{Request: &bench.RequestRecord{Order: 1, Request: q}}); err != nil {
		t.Error(err)
	}
}

func TestRequestsSurviveTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := anyRequest().Draw(t, "request")
		q.Text = rapid.String().Draw(t, "text")
		q.Error = rapid.String().Draw(t, "error")
		q.CachedTokens = ptr(rapid.IntRange(0, 100).Draw(t, "cached"))
		want := bench.RequestRecord{Scenario: "chat", Order: 1, Request: q}
		var b bytes.Buffer
		for _, r := range []bench.Record{records()[0], {Request: &want}} {
			if err := bench.WriteRecord(&b, r); err != nil {
				t.Fatal(err)
			}
		}
		log, err := bench.ReadCampaign(&b, "x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]bench.RequestRecord{want}, log.Requests[1]); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

func FuzzReadCampaign(f *testing.F) {
	file := lines(f, records())
	f.Add([]byte(file))
	f.Add([]byte(file[:len(file)-9]))
	f.Add([]byte(`{"header":{"schema":"benchgate.campaign/v1"}}` + "\n" + `{"run":{"order":1,"sent":0}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := bench.ReadCampaign(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		if log.Whole > int64(len(data)) || log.Cut && log.Whole == int64(len(data)) {
			t.Fatalf("whole %d of %d, cut %v", log.Whole, len(data), log.Cut)
		}
		again, err := bench.ReadCampaign(bytes.NewReader(data[:log.Whole]), "x")
		if err != nil {
			t.Fatalf("what was whole cannot be read again: %v", err)
		}
		again.Cut = log.Cut
		if diff := cmp.Diff(log, again); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	})
}
