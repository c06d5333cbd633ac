package ingest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

var near = cmpopts.EquateApprox(1e-9, 0)

// data is a file of testdata/vllm, which testdata/make.py made with NumPy.
func data(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/vllm", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func file(name, text string) File { return File{name, strings.NewReader(text)} }

func imported(t *testing.T, names ...string) bench.Digest {
	t.Helper()
	var files []File
	for _, name := range names {
		files = append(files, file(name, data(t, name)))
	}
	d, err := Digest("auto", files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func only(t *testing.T, d bench.Digest) bench.Run {
	t.Helper()
	if len(d.Sessions) != 1 || len(d.Sessions[0].Runs()) != 1 {
		t.Fatalf("not one run: %+v", d.Sessions)
	}
	return d.Sessions[0].Runs()[0]
}

func TestAppendedResultsAreRunsInTheOrderOfTheirDates(t *testing.T) {
	for name, text := range map[string]string{
		"as it is": data(t, "append.jsonl"), "newline at the end": data(t, "append.jsonl") + "\n", "BOM": "\xef\xbb\xbf" + data(t, "append.jsonl"),
		"CRLF": strings.ReplaceAll(data(t, "append.jsonl"), "\n", "\r\n"), "last first": swapped(data(t, "append.jsonl")),
	} {
		d, err := Digest("auto", []File{file("append.jsonl", text)}, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range d.Sessions[0].Runs() {
			got = append(got, fmt.Sprint(r.Order, r.Started.Add(time.Duration(r.Duration*1e9)).Format(" 15:04:05")))
		}
		if diff := cmp.Diff([]string{"1 10:30:10", "2 10:30:20", "3 10:30:30"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func swapped(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join([]string{lines[2], lines[0], lines[1]}, "\n")
}

// dated is the default file at another time.
func dated(t testing.TB, date string) File {
	return file(date+".json", strings.Replace(data(t, "default.json"), "20260901-101500", date, 1))
}

func TestSessionsAreTheDatesOfTheFiles(t *testing.T) {
	d, err := Digest("auto", []File{dated(t, "20260902-000300"), dated(t, "20260901-235500"), dated(t, "20260901-235000")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range d.Sessions {
		for _, r := range s.Runs() {
			got = append(got, fmt.Sprint(s.ID[:len(time.DateOnly)], " ", r.Order, s.Interleaved))
		}
	}
	if diff := cmp.Diff([]string{"2026-09-01 1 false", "2026-09-01 2 false", "2026-09-02 1 false"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSidesMeasuredOnOneDayShareASessionOnlyWhenTheyAreTheSame(t *testing.T) {
	id := func(dates ...string) string {
		var files []File
		for _, d := range dates {
			files = append(files, dated(t, d))
		}
		d, err := Digest("auto", files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d.Sessions[0].ID
	}
	base := id("20260901-101500", "20260901-102500")
	if head := id("20260901-111500", "20260901-112500"); head == base {
		t.Errorf("two sides of one day are both session %q", base)
	}
	if part := id("20260901-101500"); part == base {
		t.Errorf("part of a session is session %q too", part)
	}
	if same := id("20260901-102500", "20260901-101500"); same != base {
		t.Errorf("the same files in another order are session %q, not %q", same, base)
	}
	text := strings.Replace(data(t, "default.json"), "20260901-101500", "20260901-102500", 1)
	d, err := Digest("auto", []File{file("both.json", text+"\n\n"+data(t, "default.json"))}, Options{})
	if err != nil || d.Sessions[0].ID != base {
		t.Errorf("the same results in one file are session %q, not %q: %v", d.Sessions[0].ID, base, err)
	}
}

// The two sides of an interleaved session are imported apart, and their runs still have one order.
func TestNamedSessionsAreInterleavedAndOrderedOverBothSides(t *testing.T) {
	o := Options{Session: "night"}
	base, err := Digest("auto", []File{dated(t, "20260901-101500"), dated(t, "20260901-102500")}, o)
	if err != nil {
		t.Fatal(err)
	}
	head, err := Digest("auto", []File{dated(t, "20260901-103000"), dated(t, "20260901-102000")}, o)
	if err != nil {
		t.Fatal(err)
	}
	b, h := base.Sessions[0], head.Sessions[0]
	if b.ID != "night" || h.ID != "night" || !b.Interleaved || !h.Interleaved {
		t.Errorf("sessions %+v, %+v", b, h)
	}
	order := []int{b.Runs()[0].Order, h.Runs()[0].Order, b.Runs()[1].Order, h.Runs()[1].Order}
	for i := range 3 {
		if order[i+1]-order[i] != 300 {
			t.Errorf("orders %v: want five minutes between them", order)
		}
	}
}

func TestImportsAreNamedAndSayWhereTheyComeFrom(t *testing.T) {
	d := imported(t, "default.json")
	if d.Runner != "imported" || d.Scenario != "vllm" || d.Simulated {
		t.Errorf("%s/%s, simulated %v", d.Runner, d.Scenario, d.Simulated)
	}
	want := map[string]string{
		bench.KeyModel: "Qwen/Qwen3-8B", bench.KeyTool: "vllm bench serve", bench.KeyDefinitions: "vllm bench serve, type7/1",
		bench.KeyWorkload: "backend openai-chat, prompts 60, request rate 8, burstiness +Inf, input tokens 1800 ",
	}
	d.MustMatch[bench.KeyWorkload], _, _ = strings.Cut(d.MustMatch[bench.KeyWorkload], "#")
	if diff := cmp.Diff(want, d.MustMatch); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d, err := Digest("vllm", []File{dated(t, "20260901-101500")}, Options{Runner: "h100-1x", Scenario: "chat"})
	if err != nil || d.Runner != "h100-1x" || d.Scenario != "chat" {
		t.Errorf("%s/%s, %v", d.Runner, d.Scenario, err)
	}
	if !imported(t, "simulated.json").Simulated {
		t.Error("a simulated server is not marked")
	}
}

func TestWorkloadIsTheSameWhateverTheFileSaysOfIt(t *testing.T) {
	one := imported(t, "default.json")
	again, err := Digest("auto", []File{dated(t, "20260905-080000")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := bench.Compare(one, again); len(c.Incomparable) > 0 {
		t.Errorf("two files of one workload are incomparable: %v", c.Incomparable)
	}
	other, err := Digest("auto", []File{file("x", strings.Replace(data(t, "default.json"), `"request_rate": 8.0`, `"request_rate": 9.0`, 1))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := bench.Compare(one, other); len(c.Incomparable) != 1 {
		t.Errorf("another rate is comparable: %v", c)
	}
}

func TestFilesThatDoNotBelongTogetherAreRefused(t *testing.T) {
	base := data(t, "default.json")
	for name, c := range map[string]struct{ old, new, want string }{
		"rate":        {`"request_rate": 8.0`, `"request_rate": "inf"`, `request rate is "8" and "+Inf"`},
		"burstiness":  {`"burstiness": Infinity`, `"burstiness": 1.0`, `burstiness is "+Inf" and "1"`},
		"concurrency": {`"max_concurrency": null`, `"max_concurrency": 4`, `max concurrency is "" and "4"`},
		"backend":     {`"backend": "openai-chat"`, `"backend": "vllm"`, `backend is "openai-chat" and "vllm"`},
		"input":       {`"total_input_tokens": 1800`, `"total_input_tokens": 1801`, `1800 and 1801 input tokens`},
		"model":       {`"model_id": "Qwen/Qwen3-8B"`, `"model_id": "other"`, `different models: "Qwen/Qwen3-8B" and "other"`},
	} {
		b := strings.Replace(strings.Replace(base, c.old, c.new, 1), "20260901-101500", "20260901-111500", 1)
		_, err := Digest("auto", []File{file("a.json", base), file("b.json", b)}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"a.json" and "b.json"`) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	_, err := Digest("auto", []File{file("a.json", base), file("copy.json", base)}, Options{})
	if err == nil || !strings.Contains(err.Error(), `"a.json" and "copy.json" are the same result`) {
		t.Errorf("the same file twice: error %v", err)
	}
}

func TestUnknownFormatsAndNamesAreRefused(t *testing.T) {
	for _, c := range []struct {
		format string
		files  []File
		o      Options
		want   string
	}{
		{"guidellm", []File{dated(t, "20260901-101500")}, Options{}, `unknown format "guidellm": want auto or vllm`},
		{"auto", nil, Options{}, "0 files"},
		{"auto", make([]File, 1001), Options{}, "1001 files"},
		{"auto", []File{dated(t, "20260901-101500")}, Options{Runner: "../x"}, "runner name"},
		{"auto", []File{dated(t, "20260901-101500")}, Options{Scenario: "A"}, "scenario name"},
		{"vllm", []File{file("x", `{"a":1}`)}, Options{}, "not a result of vllm bench serve"},
		{"auto", []File{{"x", io.MultiReader(strings.NewReader("{"), failing{})}}, Options{}, "closed pipe"},
	} {
		if _, err := Digest(c.format, c.files, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestFilesOfTooManyResultsAreRefused(t *testing.T) {
	text := strings.Repeat("{}\n", 1001)
	if _, err := Digest("auto", []File{file("x", text)}, Options{}); err == nil || !strings.Contains(err.Error(), "more than 1000 results") {
		t.Errorf("error %v", err)
	}
}

func TestDigestsOfImportsCanBeWritten(t *testing.T) {
	names, err := filepath.Glob("testdata/vllm/*")
	if err != nil || len(names) < 14 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if name = filepath.Base(name); name == "pooling.json" {
			continue
		}
		var b bytes.Buffer
		if err := bench.WriteDigest(&b, imported(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := bench.ReadDigest(&b, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bare words of Python become strings, and nothing else changes.
func TestPythonsNumbersBecomeJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": NaN, "b": [-Infinity,Infinity], "c": -1}`: `{"a": "NaN", "b": ["-Infinity","Infinity"], "c": -1}`,
		`{"NaN": "Infinity \" NaN \\", "x": -Infinity}`:  `{"NaN": "Infinity \" NaN \\", "x": "-Infinity"}`,
		`{"a": 1}`: `{"a": 1}`,
		`{"a": "`:  `{"a": "`,
		`"\`:       `"\`,
	} {
		got, err := plain([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, %v, want %s", in, got, err, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		if got, err := plain(in); err == nil && !bytes.ContainsAny(in, "NI") && !bytes.Equal(got, in) {
			t.Fatalf("%q became %q", in, got)
		}
	})
}

func FuzzDigest(f *testing.F) {
	for _, name := range []string{"default.json", "detailed.json", "old.json", "append.jsonl", "nan.json", "all_failed_detailed.json", "pooling.json"} {
		f.Add([]byte(data(f, name)))
	}
	f.Add([]byte("]"))
	f.Add([]byte(`{"num_prompts":1,"completed":1,"request_throughput":1,"date":"20260901-101500","model_id":"m","duration":1,"ttfts":[1],"errors":[""],"itls":[[]],"output_lens":[1]}`))
	f.Add([]byte(`{"num_prompts":"2","completed":"1","request_throughput":1,"date":"20260901-101500","model_id":"m","duration":"1","errors":["x",null],"ttfts":["0.0",NaN],"itls":[null,[]],"output_lens":[0,1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Digest("auto", []File{{"x", bytes.NewReader(text)}}, Options{})
		if err != nil {
			return
		}
		if err := bench.WriteDigest(io.Discard, d); err != nil {
			t.Fatalf("what was imported cannot be written: %v", err)
		}
		for _, s := range d.Sessions {
			for _, r := range s.Runs() {
				if r.OK == 0 && (len(r.Metrics) > 0 || r.Invalid == "") {
					t.Fatalf("a run without success has metrics: %+v", r)
				}
			}
		}
	})
}
