package campaign

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
)

// sent makes n sound requests that were each sent so late, in seconds, with a first token 100 ms later.
func sent(n int, late float64) []bench.Request {
	var qs []bench.Request
	for i := range n {
		at := float64(i)
		qs = append(qs, bench.Request{
			Index: i, Scheduled: at, Sent: at + late, FirstToken: at + late + 0.1, FirstAnswer: at + late + 0.1,
			LastToken: at + late + 0.2, End: at + late + 0.2, OutputTokens: 4, Class: bench.OK,
		})
	}
	return qs
}

func TestLateClientVoidsItsRun(t *testing.T) {
	open := config.Load{Rate: 1, Requests: 60}
	for _, c := range []struct {
		name     string
		late     float64
		selfTest float64
		timer    float64
		void     string // part of the reason; empty: the run stands
	}{
		{"punctual", 0.001, 0, 0.002, ""},
		{"at a tenth of ttft", 0.0099, 0, 0.049, ""},
		{"later than a tenth of ttft", 0.012, 0, 0.002, "sent late"},
		{"self-test too bad", 0.001, 0.02, 0.002, "self-test"},
		{"starved", 0.001, 0, 0.1, "starved of processor time"},
	} {
		requests := sent(60, c.late)
		run := bench.Condense(requests, 60, bench.SLO{})
		run.Client.SelfTest99, run.Client.TimerP99 = c.selfTest, c.timer
		examine(&run, requests, open, config.DefaultClient())
		if (run.Void == "") != (c.void == "") || !strings.Contains(run.Void, c.void) {
			t.Errorf("%s: void is %q, want %q in it", c.name, run.Void, c.void)
		}
	}
}

func TestWaitingForAConcurrencyLimitIsNoLateness(t *testing.T) {
	limited := config.Load{Rate: 1, Requests: 60, MaxConcurrency: 1}
	requests := sent(60, 0)
	for i := 1; i < len(requests); i++ { // each has to wait until the one before is done
		requests[i].Scheduled = requests[i-1].End - 0.1
		requests[i].Sent = requests[i-1].End
	}
	run := bench.Condense(requests, 60, bench.SLO{})
	examine(&run, requests, limited, config.DefaultClient())
	if run.Void != "" {
		t.Errorf("void: %s", run.Void)
	}
	if got, want := run.Client.Queued, 59.0/60; got != want {
		t.Errorf("queued is %v, want %v", got, want)
	}
}

func TestRunWithoutOneAnswerIsInvalid(t *testing.T) {
	run := bench.Condense([]bench.Request{{Class: bench.Refused, Error: "connection refused", End: 0.1}}, 1, bench.SLO{})
	judge(&run, fresh{})
	if run.Invalid == "" || len(run.Metrics) != 1 {
		t.Errorf("invalid is %q and metrics are %v; only error.ratio can be known", run.Invalid, run.Metrics)
	}
}

func TestWarmCacheIsInvalid(t *testing.T) {
	for _, c := range []struct {
		name       string
		in, cached int
		fresh      fresh
		invalid    bool
		warnings   int
	}{
		{"nothing cached", 512, 0, fresh{around: 12}, false, 0},
		{"the template alone", 512, 12, fresh{around: 12}, false, 0},
		{"a long template before a short prompt", 340, 310, fresh{around: 308}, false, 1},
		{"all but the last token", 512, 511, fresh{around: 12}, true, 0},
		{"a short prompt sent again", 32, 31, fresh{around: 4}, true, 0},
		{"half of what is new", 512, 256, fresh{around: 12}, true, 0},
		{"a shared prefix", 640, 512, fresh{shared: 0.8}, false, 0},
		{"a shared prefix, and the rest too", 640, 639, fresh{shared: 0.8}, true, 0},
		{"a shared prefix measured a little short", 640, 520, fresh{shared: 0.78}, false, 0},
		{"prompts reused on purpose", 512, 511, fresh{shared: 1, around: 12}, false, 0},
		{"too short to tell", 20, 18, fresh{around: 16}, false, 1},
	} {
		requests := sent(60, 0)
		for i := range requests {
			requests[i].InputTokens, requests[i].CachedTokens = c.in, &c.cached
		}
		run := bench.Condense(requests, 60, bench.SLO{})
		judge(&run, c.fresh)
		if (run.Invalid != "") != c.invalid || len(run.Warnings) != c.warnings {
			t.Errorf("%s: invalid %q, warnings %q", c.name, run.Invalid, run.Warnings)
		}
	}
}

func TestServerThatDoesNotTellItsCacheIsBelieved(t *testing.T) {
	run := bench.Condense(sent(60, 0), 60, bench.SLO{})
	if judge(&run, fresh{}); run.Invalid != "" || len(run.Warnings) != 0 {
		t.Errorf("invalid %q, warnings %q", run.Invalid, run.Warnings)
	}
}

func TestAnotherServerDoesNotContinueACampaign(t *testing.T) {
	old := bench.VisitRecord{
		MustMatch: map[string]string{bench.KeyMachine: "m", bench.KeyDriver: "550"},
		UnderTest: map[string]string{bench.KeyEngine: "vllm", bench.KeyVersion: "0.32"},
	}
	for name, change := range map[string]func(*bench.VisitRecord){
		"engine upgraded": func(v *bench.VisitRecord) {
			v.UnderTest = map[string]string{bench.KeyEngine: "vllm", bench.KeyVersion: "0.33"}
		},
		"another model file": func(v *bench.VisitRecord) {
			v.UnderTest = map[string]string{bench.KeyEngine: "vllm", bench.KeyVersion: "0.32", "model_file": "other.gguf"}
		},
		"driver unknown": func(v *bench.VisitRecord) { v.MustMatch = map[string]string{bench.KeyMachine: "m"} },
	} {
		now := old
		change(&now)
		if err := sameServer(old, now); err == nil || !strings.Contains(err.Error(), "--fresh") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := sameServer(old, old); err != nil {
		t.Errorf("the same server: %v", err)
	}
}
