package bench

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var levelDay = time.Date(2026, 9, 1, 2, 0, 0, 0, time.UTC)

func levelRun(order int, metrics map[string]float64) Run {
	return Run{Order: order, Sent: 10, OK: 10, Metrics: metrics}
}

func TestLevelIsTheGeometricMeanOfSoundRunsAndThePlainMeanOfShares(t *testing.T) {
	void := levelRun(4, map[string]float64{"ttft.p95": 100})
	void.Void = "late"
	invalid := levelRun(5, map[string]float64{"ttft.p95": 100})
	invalid.Invalid = "buffered"
	s := Session{Visits: []Visit{{Number: 1, Runs: []Run{
		levelRun(1, map[string]float64{"ttft.p95": 0.1, "goodput.ratio": 1, "queue.p50": 0, "output.rate": 3, "tpot.p99": 1}),
		levelRun(2, map[string]float64{"ttft.p95": 0.4, "goodput.ratio": 0.5, "queue.p50": 1, "output.rate": 12}),
	}}, {Number: 2, Runs: []Run{
		void, invalid,
		levelRun(3, map[string]float64{"ttft.p95": 0.2, "goodput.ratio": 0, "queue.p50": 1, "output.rate": 6, "tpot.p99": 1}),
	}}}}
	want := map[string]float64{"ttft.p95": 0.2, "goodput.ratio": 0.5, "output.rate": 6}
	if diff := cmp.Diff(want, s.Level(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Session{}).Level(); got == nil || len(got) > 0 {
		t.Errorf("level of nothing: %v", got)
	}
}

// A slower build by a factor stands at a level higher by that factor, whatever its runs are.
func TestLevelScalesWithTheTimesLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1e-4, 1e3), 1, 8).Draw(t, "values")
		by := rapid.Float64Range(0.01, 100).Draw(t, "by")
		at := func(by float64) float64 {
			var s Session
			for i, v := range values {
				s.Visits = append(s.Visits, Visit{Number: i, Runs: []Run{levelRun(i+1, map[string]float64{"ttft.p95": v * by})}})
			}
			return s.Level()["ttft.p95"]
		}
		if got := at(by) / at(1); math.Abs(got/by-1) > 1e-9 {
			t.Fatalf("%v times slower, level %v times higher", by, got)
		}
	})
}

func TestFirstSessionOfAnEpochIsKnownWhileItIsKept(t *testing.T) {
	kept := func(n int, epoch Epoch) Digest {
		d := Digest{Epoch: epoch}
		for i := range n {
			at := levelDay.AddDate(0, 0, n-i)
			d.Sessions = append(d.Sessions, Session{
				ID: at.Format(time.DateOnly), Started: at, Origin: Origin{Accepted: at.Add(time.Hour)},
				Visits: []Visit{{Number: 1, Runs: []Run{levelRun(1, map[string]float64{"ttft.p95": float64(n - i)})}}},
			})
		}
		return d
	}
	recorded := Epoch{Level: map[string]float64{"ttft.p95": 0.5}}
	began := Epoch{Number: 2, Started: levelDay.AddDate(0, 0, 1).Add(time.Hour)}
	for _, test := range []struct {
		name  string
		d     Digest
		first string
		level map[string]float64
	}{
		{"nothing", Digest{}, "", nil},
		{"few sessions, unsorted", kept(3, Epoch{}), "2026-09-02", map[string]float64{"ttft.p95": 1}},
		{"few sessions, level recorded", kept(3, recorded), "2026-09-02", recorded.Level},
		{"full, nothing recorded", kept(10, Epoch{}), "", nil},
		{"full, level recorded", kept(10, recorded), "", recorded.Level},
		{"full, the first by its acceptance", kept(10, began), "2026-09-02", map[string]float64{"ttft.p95": 1}},
	} {
		first := ""
		if s := test.d.First(); s != nil {
			first = s.ID
		}
		if first != test.first {
			t.Errorf("%s: first is %q, want %q", test.name, first, test.first)
		}
		if diff := cmp.Diff(test.level, test.d.EpochLevel()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestLevelsThatCannotBeAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"ttft.p95":-0.1}`:      "level of the epoch: ttft.p95 is -0.1: negative",
		`{"ttft.p95":0}`:         "ttft.p95 is 0: no level",
		`{"goodput.ratio":1.01}`: "a share is at most 1",
		`{"../x":1}`:             "metric name",
		`{"ttft.p95":NaN}`:       "NaN is not a measurement",
		`{"ttft.p95":1e999}`:     "number 1e999",
		`{"ttft.p95":null}`:      "null",
		`{"ttft.p95":"0.1"}`:     "string",
		`[0.1]`:                  "array",
	} {
		file := `{"schema":"benchgate.digest/v1","runner":"h100","scenario":"chat","must_match":{},"sessions":[],"epoch":{"number":1,"level":` + text + `}}`
		if _, err := ReadDigest(strings.NewReader(file), "chat.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("level %s: error %v, want %q", text, err, want)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), -1} {
		d := Digest{Runner: "h100", Scenario: "chat", Sessions: []Session{}, Epoch: Epoch{Level: map[string]float64{"ttft.p95": v}}}
		if err := WriteDigest(&bytes.Buffer{}, d); err == nil {
			t.Errorf("a level of %v is written", v)
		}
	}
}

func TestLevelsAreReadAsTheyWereWrittenLaw(t *testing.T) {
	names := []string{"ttft.p95", "tpot.mean", "output.rate", "goodput.ratio", "error.ratio"}
	rapid.Check(t, func(t *rapid.T) {
		level := map[string]float64{}
		for _, name := range names[:rapid.IntRange(0, len(names)).Draw(t, "n")] {
			level[name] = rapid.Float64Range(1e-9, 1).Draw(t, name)
		}
		d := Digest{Runner: "h100", Scenario: "chat", Sessions: []Session{}, Epoch: Epoch{Number: 1, Level: level}}
		var b bytes.Buffer
		if err := WriteDigest(&b, d); err != nil {
			t.Fatal(err)
		}
		first := b.String()
		again, err := ReadDigest(&b, "chat.json")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(level, again.Epoch.Level, cmpopts.EquateApprox(1e-9, 0), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		var c bytes.Buffer
		if err := WriteDigest(&c, again); err != nil || c.String() != first {
			t.Fatalf("written again it differs: %v", err)
		}
	})
}
