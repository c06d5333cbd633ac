package gate

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

var update = flag.Bool("update", false, "rewrite testdata/verdict.json")

// sample is a verdict with something of everything.
func sampleVerdict() Verdict {
	base, head := history("chat", 3), digest("chat", headDay, times(quiet, 1.4)...)
	base.Sessions[2].Origin = bench.Origin{Commit: "0123abc", Engine: "0.32", Who: "lab", Why: "nightly"}
	head.Sessions[0].UnderTest[bench.KeyVersion] = "0.33"
	head.Sessions[0].Visits[0].Runs[1].Void = "lag p99 31 ms"
	head.Sessions[0].Visits[0].Runs = append(head.Sessions[0].Visits[0].Runs, run(6, 0.57))
	runs(head, func(i int, r *bench.Run) { r.Client.LagP99 = 0.001 * float64(i+1) })
	for _, d := range []bench.Digest{base, head} {
		delete(d.MustMatch, bench.KeyDriver)
	}
	p := primary(
		Rule{Metric: "tpot.mean", Tolerance: ptr(0.05), At: Place{"benchgate.yaml", 30}},
		Rule{Metric: "goodput.ratio", Min: ptr(0.95), Scenarios: []string{"chat"}, At: Place{"benchgate.yaml", 31}},
		Rule{Metric: "error.ratio", Max: ptr(0.005), At: Place{"benchgate.yaml", 32}},
	)
	p.Waivers = []Waiver{
		{Metric: "tpot.mean", Scenario: "chat", Ceiling: 0.5, Until: headDay, Why: "a longer answer", Issue: 12},
		{Metric: "ttft.p95", Scenario: "chat", Ceiling: 0.5, Until: baseDay, Why: "old"},
	}
	return Decide(p, []bench.Digest{base, history("batch", 2)}, one(head))
}

// golden holds a verdict against a file, byte for byte.
func golden(t *testing.T, file string, v Verdict) {
	t.Helper()
	var got bytes.Buffer
	if err := WriteVerdict(&got, v); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestVerdictFile(t *testing.T) {
	golden(t, "testdata/verdict.json", sampleVerdict())
}

func TestReaderRefuses(t *testing.T) {
	good := func(edit ...string) string {
		var b bytes.Buffer
		if err := WriteVerdict(&b, Decide(primary(), one(history("chat", 2)), one(digest("chat", headDay, quiet...)))); err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(edit...).Replace(b.String())
	}
	for _, test := range []struct{ name, text, says string }{
		{"nothing", "", "empty"},
		{"a cut file", good()[:700], "ends too early"},
		{"another kind", good("benchgate.verdict/v1", "benchgate.digest/v1"), "want benchgate.verdict/v1"},
		{"another major", good("benchgate.verdict/v1", "benchgate.verdict/v2"), "benchgate.verdict/v2"},
		{"NaN", good(`"exit_code": 0`, `"exit_code": NaN`), "NaN"},
		{"a conflict", "<<<<<<< ours\n" + good(), "conflict"},
		{"an unknown outcome", good(`"outcome": "pass"`, `"outcome": "great"`), `"great"`},
		{"an exit code that the outcome cannot have", good(`"exit_code": 0`, `"exit_code": 1`), "pass cannot have exit code 1"},
		{"a finding without a reason", good(`"why": "`, `"why": "", "because": "`), "without a reason"},
		{"a change outside its interval", good(`"worse_high": 0`, `"worse_high": -0`), "outside its interval"},
		{"an interval of nulls", good(`"worse_low": -0`, `"worse_low": null, "x": -0`), "null"},
		{"too many levels", good(`"findings": [`, `"x": `+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`, "findings": [`), "nested"},
		{"curves of unequal length", good(`"x": [`, `"x": [ 0.1,`), "6 x and 5 y"},
		{"text after the end", good() + "{}", "after top-level value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadVerdict(strings.NewReader(test.text), "DIR/verdict.json")
			if err == nil {
				t.Fatal("read without an error")
			}
			for _, part := range []string{`read verdict "DIR/verdict.json": `, test.says} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error: %v\nwant in it: %s", err, part)
				}
			}
		})
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	var b bytes.Buffer
	want := sampleVerdict()
	if err := WriteVerdict(&b, want); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(b.String(), `"outcome"`, `"colour": "red", "outcome"`, 1)
	got, err := ReadVerdict(strings.NewReader(text), "verdict.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWriterRefusesWhatTheReaderWould(t *testing.T) {
	v := sampleVerdict()
	v.Findings[0].Outcome = "great"
	var b bytes.Buffer
	if err := WriteVerdict(&b, v); err == nil || b.Len() > 0 {
		t.Errorf("error %v, %d bytes written", err, b.Len())
	}
	if err := WriteVerdict(full{}, sampleVerdict()); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

var errFull = errors.New("no space left")

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func FuzzReadVerdict(f *testing.F) {
	golden, err := os.ReadFile("testdata/verdict.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add([]byte(`{"schema":"benchgate.verdict/v1","outcome":"invalid","exit_code":3,"findings":[]}`))
	f.Add([]byte(`{"schema":"benchgate.verdict/v1.7","outcome":"pass","findings":null,"series":[{"x":[1],"y":[2]}]}`))
	f.Add([]byte(`{"schema":"benchgate.verdict/v1","outcome":"regressed","exit_code":1,"findings":[{"outcome":"regressed","why":"\u0000"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ReadVerdict(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := WriteVerdict(&first, v); err != nil {
			t.Fatal(err)
		}
		again, err := ReadVerdict(bytes.NewReader(first.Bytes()), "again")
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteVerdict(&second, again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first.String(), second.String()); diff != "" {
			t.Errorf("write, read, write (-first +second)\n%s", diff)
		}
	})
}
