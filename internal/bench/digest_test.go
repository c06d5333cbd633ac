package bench_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func ptr[T any](v T) *T { return &v }

// example is a digest with every field set.
func example() bench.Digest {
	run := func(order int, p50 float64) bench.Run {
		return bench.Run{
			Order: order, Started: at("2026-11-03T10:00:00+01:00").Add(time.Duration(order) * time.Minute), Duration: 19.987654321987,
			Sent: 160, OK: 158, Failed: map[bench.Class]int{bench.Reset: 1, bench.HTTP5xx: 1},
			Metrics: map[string]float64{"ttft.p50": p50, "tpot.mean": 0.0123, "error.ratio": 0.0125, "output.rate": 1011.25},
			Good:    ptr(150), InputTokens: 511.5, OutputTokens: 128, CachedTokens: ptr(0.0),
			Client:     bench.Client{LagP50: 0.00001, LagP99: 0.002, LagMax: 0.004, CPU: 0.1, Reconnects: 2},
			FirstError: `<b>"reset" & more</b>`, Warnings: []string{"stream buffered"},
		}
	}
	second := run(3, 0.0951)
	second.Void, second.Invalid = "client late", "stream buffered"
	return bench.Digest{
		Schema: bench.DigestSchema, Runner: "h100-1x", Scenario: "chat",
		MustMatch: map[string]string{bench.KeyModel: "Qwen/Qwen3-8B", bench.KeyMachine: "m1", bench.KeyTool: "benchgate"},
		SLO:       bench.SLO{TTFT: ptr(0.5), TPOT: ptr(0.03)},
		Text:      bench.Calibration{Method: "usage", TokensPerWord: 1.25, Overhead: 7},
		Epoch:     bench.Epoch{Number: 2, Started: at("2026-11-01T00:00:00Z"), Reason: "engine 0.34", Who: "ada"},
		Sessions: []bench.Session{{
			ID: "20261103-1", Started: at("2026-11-03T09:00:00Z"), UnderTest: map[string]string{bench.KeyVersion: "0.34"},
			Origin:   bench.Origin{Commit: "abc", Engine: "vllm 0.34", Who: "ada", Why: "nightly", Accepted: at("2026-11-03T12:00:00Z")},
			Warnings: []string{"driver unknown"},
			Visits:   []bench.Visit{{Number: 1, Started: at("2026-11-03T09:00:01.5Z"), Runs: []bench.Run{run(1, 0.0912345678912), run(2, 0.0942), second}}},
		}},
	}
}

func written(t *testing.T, d bench.Digest) string {
	t.Helper()
	var b bytes.Buffer
	if err := bench.WriteDigest(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDigestsHaveOneForm(t *testing.T) {
	golden(t, "testdata/digest.json", []byte(written(t, example())))
}

func TestDigestIsReadAsItWasWritten(t *testing.T) {
	got, err := bench.ReadDigest(strings.NewReader(written(t, example())), "chat.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example(), got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestNumbersAreRoundedToTenDigits(t *testing.T) {
	d := example()
	d.Sessions[0].Visits[0].Runs[0].Metrics["ttft.p50"] = 1.0 / 3
	if s := written(t, d); !strings.Contains(s, `"ttft.p50":0.3333333333,`) && !strings.Contains(s, `"ttft.p50":0.3333333333}`) {
		t.Errorf("1/3 is not rounded:\n%s", s)
	}
	if d.Sessions[0].Visits[0].Runs[0].Metrics["ttft.p50"] != 1.0/3 {
		t.Error("writing changed the digest")
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	s := written(t, example())
	s = strings.Replace(s, `"runner":`, `"newer": {"x": [1, null, {"y": null}]}, "runner":`, 1)
	s = strings.Replace(s, `{"cached_tokens"`, `{"newer":null,"cached_tokens"`, 1)
	s = strings.Replace(s, bench.DigestSchema, bench.DigestSchema+".7", 1)
	got, err := bench.ReadDigest(strings.NewReader(s), "chat.json")
	if err != nil {
		t.Fatal(err)
	}
	if again := written(t, got); again != written(t, example()) {
		t.Error("unknown fields changed what was read")
	}
}

// Each case changes the canonical file of example and names a part of the message.
func TestDamagedDigestsAreRefused(t *testing.T) {
	whole := written(t, example())
	swap := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("the example holds no %q", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	for name, c := range map[string]struct{ file, want string }{
		"zero bytes":            {"", "empty file"},
		"only space":            {" \n\n", "empty file"},
		"cut":                   {whole[:len(whole)/2], "ends too early"},
		"cut by one":            {whole[:len(whole)-3], "ends too early"},
		"only NUL":              {strings.Repeat("\x00", 100), "line 1, column 1"},
		"text after the end":    {whole + "{}", "after top-level value"},
		"garbage after the end": {whole + "]", "line 56, column 1: invalid character ']' after top-level value"},
		"conflict marker":       {swap("  \"runner\"", "<<<<<<< HEAD\n  \"runner\""), "line 13: a merge conflict marker \"<<<<<<< HEAD\""},
		"second half of one":    {swap("  \"runner\"", "=======\n  \"runner\""), "merge conflict marker"},
		"CRLF conflict marker":  {swap("  \"runner\"", ">>>>>>> x\r\n  \"runner\""), "merge conflict marker"},
		"LFS pointer":           {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "Git LFS pointer"},
		"not JSON":              {"runner: h100\n", "line 1, column 1"},
		"another kind":          {swap(bench.DigestSchema, "benchgate.verdict/v1"), `schema is "benchgate.verdict/v1", want benchgate.digest/v1`},
		"newer major":           {swap(bench.DigestSchema, "benchgate.digest/v2"), "knows benchgate.digest/v1 only"},
		"major that begins so":  {swap(bench.DigestSchema, "benchgate.digest/v10"), "knows benchgate.digest/v1 only"},
		"no schema":             {swap(`"schema": "benchgate.digest/v1",`, ""), "not a file of benchgate"},
		"a foreign schema":      {swap(bench.DigestSchema, "http://x"), "not a file of benchgate"},
		"schema of wrong type":  {swap(`"benchgate.digest/v1"`, "7"), "\"schema\" is a number, want a string"},
		"a list":                {"[]", "line 1"},
		"a number":              {"17", "line 1"},
		"null":                  {"null", "not a file of benchgate"},
		"NaN":                   {swap("0.0942", "NaN"), "NaN is not a measurement"},
		"Infinity":              {swap("0.0942", "Infinity"), "Infinity is not a measurement"},
		"minus Infinity":        {swap("0.0942", "-Infinity"), "Infinity is not a measurement"},
		"beyond a float":        {swap("0.0942", "1e999"), "number 1e999"},
		"null for a number":     {swap("0.0942", "null"), "null stands where a value belongs"},
		"null for a count":      {swap(`"sent":160`, `"sent":null`), "null stands where a value belongs"},
		"null for a time":       {swap(`"2026-11-03T09:00:00Z"`, `null`), "null stands where a value belongs"},
		"text for a number":     {swap("0.0942", `"0.0942"`), `is a string, want a float64`},
		"a fraction of a count": {swap(`"sent":160`, `"sent":160.5`), "160.5"},
		"no time":               {swap(`"2026-11-03T09:00:00Z"`, `"yesterday"`), `line 26, column 19: "yesterday" is not a time`},
		"negative latency":      {swap("0.0942", "-0.0942"), `session 1 ("20261103-1"): visit 1: run 2: ttft.p50 is -0.0942: negative`},
		"no latency":            {swap("0.0942", "0"), "run 2: ttft.p50 is 0"},
		"a share above 1":       {swap(`"error.ratio":0.0125`, `"error.ratio":1.0125`), "at most 1"},
		"negative count":        {swap(`"sent":160`, `"sent":-160`), "sent -160"},
		"counts do not add up":  {swap(`"ok":158`, `"ok":157`), "sent 160, but ok 157 and failed 2"},
		"more good than ok":     {swap(`"good":150`, `"good":159`), "good 159 of ok 158"},
		"ok among the failed":   {swap(`"http_5xx":1`, `"ok":1`), `class "ok"`},
		"a count without end":   {swap(`"sent":160`, `"sent":99999999999999999999`), "sent"},
		"duplicate run":         {swap(`"order":2`, `"order":1`), "run 1 stands twice"},
		"run zero":              {swap(`"order":1`, `"order":0`), "counted from 1"},
		"key twice":             {swap(`"ok":158`, `"ok":158,"ok":158`), `"ok" stands twice`},
		"path as a runner":      {swap(`"h100-1x"`, `"../../etc"`), "runner name"},
		"no runner":             {swap(`"runner": "h100-1x",`, ""), "runner name"},
		"hostile scenario":      {swap(`"chat"`, `"chat\u0000"`), "scenario name"},
		"hostile metric":        {swap(`"ttft.p50":0.0942`, `"<script>.p50":1`), "metric name"},
		"session twice":         {twoSessions(whole), `session "20261103-1" stands twice`},
		"no sessions":           {whole[:strings.Index(whole, "  \"sessions\"")] + `"slo":{}}`, "no sessions"},
		"deep nesting":          {swap(`"runner":`, `"x": `+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`, "runner":`), "nested deeper than 32"},
		"deeper, never closed":  {strings.Repeat(`{"a":`, 1<<16), "nested deeper than 32"},
		"far too deep and cut":  {strings.Repeat("[", 1<<18), "nested deeper than 32"},
		"broken UTF-8 and NUL":  {swap(`"chat"`, "\"\xff\x00\""), "line 14, column 17"},
		"negative SLO":          {swap(`"ttft": 0.5`, `"ttft": -0.5`), "slo: ttft is -0.5"},
		"no session id":         {swap(`"id": "20261103-1"`, `"id": ""`), "id"},
		"no start of a session": {swap(`"2026-11-03T09:00:00Z"`, `"0001-01-01T00:00:00Z"`), "no start time"},
		"negative epoch":        {swap(`"number": 2`, `"number": -2`), "epoch -2"},
		"latency of none ok":    {swap(`"failed":{"http_5xx":1,"reset":1}`, `"failed":{"reset":160}`), "sent 160"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := bench.ReadDigest(strings.NewReader(c.file), "h100-1x/chat.json")
			if err == nil {
				t.Fatalf("read as %+v", d)
			}
			if !strings.HasPrefix(err.Error(), `read digest "h100-1x/chat.json": `) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			if diff := cmp.Diff(bench.Digest{}, d); diff != "" {
				t.Errorf("an error comes with a digest:\n%s", diff)
			}
		})
	}
}

// twoSessions doubles the one session of a canonical digest.
func twoSessions(whole string) string {
	i := strings.Index(whole, "    {\n      \"id\"")
	j := strings.LastIndex(whole, "\n  ],\n  \"slo\"")
	return whole[:j] + ",\n" + whole[i:j] + whole[j:]
}

// endless is a file of one line that never ends; it counts what was taken of it.
type endless struct{ taken int }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, sevens)
	e.taken += n
	return n, nil
}

var sevens = strings.Repeat("7", 1<<20)

func TestHugeFilesAreRefusedBeforeTheyAreRead(t *testing.T) {
	for name, read := range map[string]func(r *endless) error{
		"digest":   func(r *endless) error { _, err := bench.ReadDigest(r, "x"); return err },
		"campaign": func(r *endless) error { _, err := bench.ReadCampaign(r, "x"); return err },
		"rows":     func(r *endless) error { _, err := bench.ReadRows(r, "x"); return err },
	} {
		r := new(endless)
		err := read(r)
		if err == nil || !strings.Contains(err.Error(), "MiB") {
			t.Errorf("%s: error %v", name, err)
		}
		if r.taken > 70<<20 {
			t.Errorf("%s: %d bytes were taken", name, r.taken)
		}
	}
}

func TestDigestsThatCouldNotBeReadAreNotWritten(t *testing.T) {
	for name, change := range map[string]func(*bench.Digest){
		"NaN":             func(d *bench.Digest) { d.Sessions[0].Visits[0].Runs[0].Metrics["ttft.p50"] = math.NaN() },
		"infinite":        func(d *bench.Digest) { d.Sessions[0].Visits[0].Runs[0].Duration = math.Inf(1) },
		"negative":        func(d *bench.Digest) { d.Sessions[0].Visits[0].Runs[0].Client.TimerP99 = -1 },
		"looks that fall": func(d *bench.Digest) { d.Sessions[0].Looks = []int{6, 4} },
		"an endless look": func(d *bench.Digest) { d.Sessions[0].Looks = []int{6, 6_000_000} },
		"bad runner":      func(d *bench.Digest) { d.Runner = "H100" },
		"year 10000":      func(d *bench.Digest) { d.Sessions[0].Started = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"no sessions":     func(d *bench.Digest) { d.Sessions = nil },
	} {
		d := example()
		change(&d)
		var b bytes.Buffer
		if err := bench.WriteDigest(&b, d); err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, b.Len())
		}
	}
}

func TestErrorsOfTheDiskAreReported(t *testing.T) {
	_, err := bench.ReadDigest(io.MultiReader(strings.NewReader("{"), broken{}), "x.json")
	if err == nil || !strings.Contains(err.Error(), "closed pipe") {
		t.Errorf("error %v", err)
	}
	if err := bench.WriteDigest(broken{}, example()); err == nil {
		t.Error("a failed write is not reported")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, io.ErrClosedPipe }
func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWritingIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDigest().Draw(t, "digest")
		var first, second bytes.Buffer
		if err := bench.WriteDigest(&first, d); err != nil {
			t.Fatal(err)
		}
		got, err := bench.ReadDigest(bytes.NewReader(first.Bytes()), "x")
		if err != nil {
			t.Fatalf("%v\n%s", err, first.String())
		}
		if err := bench.WriteDigest(&second, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first.String(), second.String()); diff != "" {
			t.Fatalf("(-once +twice):\n%s", diff)
		}
		if diff := cmp.Diff(d, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(1e-9, 0), cmpopts.IgnoreFields(d, "Schema")); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

func anyDigest() *rapid.Generator[bench.Digest] {
	name := rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,39}`)
	text := rapid.StringN(0, 20, 60)
	positive := rapid.Float64Range(1e-9, 1e9)
	instant := rapid.Map(rapid.Int64Range(1, 250_000_000_000), func(s int64) time.Time { return time.Unix(s, s%1e9) })
	return rapid.Custom(func(t *rapid.T) bench.Digest {
		d := bench.Digest{
			Runner: name.Draw(t, "runner"), Scenario: name.Draw(t, "scenario"), Simulated: rapid.Bool().Draw(t, "simulated"),
			MustMatch: rapid.MapOfN(text, text, 0, 3).Draw(t, "must"), Sessions: []bench.Session{},
		}
		if rapid.Bool().Draw(t, "slo") {
			d.SLO.TTFT = ptr(positive.Draw(t, "limit"))
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "sessions") {
			s := bench.Session{ID: string(rune('a' + i)), Started: instant.Draw(t, "started"), UnderTest: rapid.MapOfN(text, text, 0, 2).Draw(t, "under")}
			for k := range rapid.IntRange(0, 3).Draw(t, "runs") {
				ok := rapid.IntRange(1, 1000).Draw(t, "ok")
				s.Visits = append(s.Visits, bench.Visit{Number: k, Started: instant.Draw(t, "visit"), Runs: []bench.Run{{
					Order: k + 1, Started: instant.Draw(t, "run"), Duration: positive.Draw(t, "duration"), Sent: ok + 1, OK: ok,
					Failed:  map[bench.Class]int{bench.Reset: 1},
					Metrics: map[string]float64{"ttft.p50": positive.Draw(t, "p50"), "queue.mean": 0},
					Void:    text.Draw(t, "void"), FirstError: text.Draw(t, "error"), Good: ptr(ok),
				}}})
			}
			d.Sessions = append(d.Sessions, s)
		}
		return d
	})
}

func FuzzReadDigest(f *testing.F) {
	var b bytes.Buffer
	if err := bench.WriteDigest(&b, example()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()/2])
	f.Add([]byte(`{"schema":"benchgate.digest/v1","runner":"a","scenario":"b","sessions":[]}`))
	f.Add([]byte(`{"schema":"benchgate.digest/v1.5","runner":"a","scenario":"b","sessions":[{"id":"x","started":"2026-01-01T00:00:00Z","visits":null}]}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := bench.ReadDigest(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := bench.WriteDigest(&first, d); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := bench.ReadDigest(bytes.NewReader(first.Bytes()), "x")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if err := bench.WriteDigest(&second, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("writing twice differs (%v):\n%s\n%s", err, first.Bytes(), second.Bytes())
		}
	})
}

func TestDocumentKeepsNumbersOfIntegers(t *testing.T) {
	var v struct {
		Schema string          `json:"schema"`
		Raw    json.RawMessage `json:"raw"`
	}
	err := bench.Document(strings.NewReader(`{"schema":"benchgate.thing/v1","raw":12345678901234567}`), "benchgate.thing/v1", &v)
	if err != nil || string(v.Raw) != "12345678901234567" {
		t.Errorf("raw = %s, %v", v.Raw, err)
	}
}
