package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sample is a line of the Prometheus text format, as far as this server uses it.
var sample = regexp.MustCompile(`^(# HELP [a-z_]+ [^\n]+|# TYPE [a-z_]+ (gauge|counter|histogram)|([a-z_]+)\{model_name="[^"\\]*"(?:,le="([0-9.]+|\+Inf)")?\} ([0-9.e+-]+))$`)

// scraped reads /metrics the plain way: values by name, without the prefix, and those of buckets with their bound.
func scraped(t *testing.T, c *http.Client, url string) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for line := range strings.Lines(get(t, c, url+"/metrics")) {
		m := sample.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case m == nil:
			t.Errorf("not a line of the Prometheus format: %q", line)
		case m[3] != "":
			v, err := strconv.ParseFloat(m[5], 64)
			if err != nil {
				t.Errorf("%q: %v", line, err)
			}
			got[strings.TrimPrefix(m[3]+m[4], "simulated_")] = v
		}
	}
	return got
}

func TestMetricsCountTheWork(t *testing.T) {
	r := loopback(t, Options{})
	ask(t, r.URL()+"/v1/completions", `{"prompt":"one two three","max_tokens":5}`)
	ask(t, r.URL()+"/v1/completions", `{"prompt":"one two","max_tokens":0}`)
	got := scraped(t, http.DefaultClient, r.URL())
	for name, want := range map[string]float64{
		"requests_running": 0, "requests_waiting": 0, "slots": 8, "requests_success_total": 1, "requests_failure_total": 1,
		"prompt_tokens_total": 3, "generation_tokens_total": 5, "cached_tokens_total": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, ok, want)
		}
	}
}

// Five at once on two slots, streamed, of one token and more, and one answered whole.
func TestMetricsAreTheSumOfTheRecords(t *testing.T) {
	for _, fault := range []string{"", "cut", "metrics-lie"} {
		t.Run("fault "+fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, client := virtual(t, Options{Slots: 2, TTFT: 30 * ms, TPOT: 7 * ms, LoadFactor: 0.3, RequestSD: 0.3, Fault: fault})
				var all sync.WaitGroup
				for i, tokens := range []int{1, 2, 9, 17, 40} {
					all.Go(func() { timed(t, client, fmt.Sprint("words and ", i), tokens) })
				}
				all.Wait()
				if _, err := post(t.Context(), client, "http://sim"+chat, `{"messages":[{"content":"hello"}],"max_tokens":5}`); err != nil {
					t.Error(err)
				}
				synctest.Wait() // a connection that is cut is counted behind the cut
				got := scraped(t, client, "http://sim")
				want := summed(r.Server().Drain())
				want["prompt_tokens_total"] = 5*(3+6) + 1 + 6
				for name := range want {
					if fault == "metrics-lie" {
						want[name] *= 2
					}
					if math.Abs(got[name]-want[name]) > 1e-9 {
						t.Errorf("%s is %v, the records say %v", name, got[name], want[name])
					}
				}
			})
		})
	}
}

// summed is what metrics have to say of these records.
func summed(records []Record) map[string]float64 {
	want := map[string]float64{}
	observe := func(name string, v float64) {
		want[name+"_sum"] += v
		want[name+"_count"]++
		for _, bound := range []float64{0.01, 0.05, 0.1, math.Inf(1)} {
			label := fmt.Sprintf("%s_bucket%g", name, bound)
			want[label] += 0
			if v <= bound {
				want[label]++
			}
		}
	}
	for _, r := range records {
		want["requests_success_total"] += 0
		want["generation_tokens_total"] += float64(r.Tokens)
		if r.Tokens > 0 {
			observe("time_to_first_token_seconds", r.First.Sub(r.Received).Seconds())
		}
		switch {
		case !r.Ended:
			want["requests_failure_total"]++
			continue
		case r.Tokens > 1:
			observe("time_per_output_token_seconds", r.Last.Sub(r.First).Seconds()/float64(r.Tokens-1))
		}
		want["requests_success_total"]++
	}
	return want
}

// A client that has the last token, and reads no further, finds the answer counted.
func TestAnAnswerIsCountedBeforeItsEndIsSeen(t *testing.T) {
	for _, fault := range []string{"", "finish-hangs", "late-usage", "hidden-answer"} {
		t.Run("fault "+fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client := virtual(t, Options{TTFT: 30 * ms, TPOT: 7 * ms, Fault: fault})
				res, err := post(t.Context(), client, "http://sim"+chat, chatBody("hello", 6))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				var body []byte
				for buf := make([]byte, 4096); !strings.Contains(string(body), `"finish_reason":"length"`); {
					n, err := res.Body.Read(buf)
					if body = append(body, buf[:n]...); err != nil {
						t.Fatalf("%v after:\n%s", err, body)
					}
				}
				got := scraped(t, client, "http://sim")
				if got["requests_success_total"] != 1 || got["requests_failure_total"] != 0 || got["generation_tokens_total"] != 6 {
					t.Errorf("counted %v answers, %v failures and %v tokens", got["requests_success_total"], got["requests_failure_total"], got["generation_tokens_total"])
				}
			})
		})
	}
}

var nearly = cmpopts.EquateApprox(1e-9, 0)

func delivers(t *testing.T, r *Running) {
	// The server closes this connection at once; what is under way comes all the same.
	sees(func(s seen) bool { return s.tokens() == 8 && s.done() && s.err == nil })(t, r)
	inVirtualTime(Options{TTFT: 100 * ms, TPOT: 10 * ms}, func(t *testing.T, c *http.Client) {
		for range 2 {
			if diff := cmp.Diff(schedule(150*ms, 10*ms, 8), timed(t, c, "hello", 8)); diff != "" {
				t.Errorf("arrivals (-want +got):\n%s", diff)
			}
		}
		time.Sleep(200 * ms)
		got := scraped(t, c, "http://sim")
		if ttft := got["time_to_first_token_seconds_sum"] / got["time_to_first_token_seconds_count"]; ttft != 0.1 {
			t.Errorf("the server counted a ttft of %v s", ttft)
		}
	})(t, r)
}

// tells asks three at once of one slot: the second waits, and the account says so where it tells of waiting.
func tells(member string, waits bool) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		inVirtualTime(Options{TTFT: 100 * ms, TPOT: 10 * ms, Slots: 1}, func(t *testing.T, c *http.Client) {
			first := make(chan map[string]float64)
			go func() { first <- accountOf(t, c, member) }()
			synctest.Wait()
			second := accountOf(t, c, member)
			want := map[string]float64{
				"cache_n": 0, "prompt_n": 7, "prompt_ms": 100, "prompt_per_token_ms": 100. / 7, "prompt_per_second": 70,
				"predicted_n": 8, "predicted_ms": 70, "predicted_per_token_ms": 10, "predicted_per_second": 100,
			}
			if waits {
				want = map[string]float64{
					"time_to_first_token_ms": 100, "generation_time_ms": 70, "queue_time_ms": 0, "mean_itl_ms": 10, "tokens_per_second": 8 / 0.17,
				}
			}
			if diff := cmp.Diff(want, <-first, nearly); diff != "" {
				t.Errorf("first (-want +got):\n%s", diff)
			}
			if waits {
				want["queue_time_ms"] = 170
			}
			if diff := cmp.Diff(want, second, nearly); diff != "" {
				t.Errorf("second (-want +got):\n%s", diff)
			}
		})(t, r)
	}
}

// accountOf is the member of the last event before [DONE].
func accountOf(t *testing.T, c *http.Client, member string) map[string]float64 {
	res, err := post(t.Context(), c, "http://sim"+chat, chatBody("hello", 8))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	events := strings.Split(string(body), "\n\n")
	if err != nil || len(events) != 11 {
		t.Errorf("%d events, %v", len(events), err)
		return nil
	}
	return memberOf(t, strings.TrimPrefix(events[8], "data: "), member)
}

func memberOf(t *testing.T, data, member string) map[string]float64 {
	var last map[string]json.RawMessage
	var account map[string]float64
	if err := errors.Join(json.Unmarshal([]byte(data), &last), json.Unmarshal(last[member], &account)); err != nil {
		t.Errorf("%v:\n%s", err, data)
	}
	return account
}

// llama-server tells in the last chunk even where nobody asked for usage, and in an answer that is no stream; vLLM in the
// latter alone.
func TestAnAccountComesWithoutUsageToo(t *testing.T) {
	const ask = `{"messages":[{"content":"hello"}],"max_tokens":4`
	for _, c := range []struct {
		fault, member, body, begins string
		told                        int
	}{
		{"timings", timings, ask + `,"stream":true}`, "data: ", 1},
		{"timings", timings, ask + `}`, "{", 1},
		{"request-metrics", requestMetrics, ask + `,"stream":true}`, "data: ", 0},
		{"request-metrics", requestMetrics, ask + `}`, "{", 1},
	} {
		r := loopback(t, Options{Fault: c.fault, TPOT: ms})
		res, err := post(t.Context(), http.DefaultClient, r.URL()+chat, c.body)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if n := strings.Count(string(body), `"`+c.member+`":{`); err != nil || n != c.told || !strings.HasPrefix(string(body), c.begins) {
			t.Errorf("%s: %d accounts, want %d (%v):\n%s", c.fault, n, c.told, err, body)
		}
		for event := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n\n") {
			if data := strings.TrimPrefix(event, "data: "); data != "[DONE]" && !json.Valid([]byte(data)) {
				t.Errorf("%s: no JSON: %s", c.fault, data)
			}
		}
	}
}

func countsTwice(t *testing.T, r *Running) {
	look(t, r, chat)
	got := scraped(t, http.DefaultClient, r.URL())
	if got["generation_tokens_total"] != 16 || got["time_to_first_token_seconds_count"] != 2 || got["slots"] != 8 {
		t.Errorf("one answer of 8 tokens: %v", got)
	}
}

// What a client does not read keeps neither the server from ending nor a goroutine alive.
func TestASlowNetworkEndsWithItsServer(t *testing.T) {
	for name, leave := range map[string]func(net.Conn){
		"the client leaves":     func(c net.Conn) { c.Close() },
		"the client is silent":  func(net.Conn) {},
		"more than waits there": func(net.Conn) { time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewMemory()
				r := Serve(New(Options{Fault: "slow-network", TTFT: 10 * ms, TPOT: ms}), l)
				c, err := l.Dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				body := chatBody("hello", 5000)
				fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: sim\r\nContent-Length: %d\r\n\r\n%s", chat, len(body), body)
				time.Sleep(100 * ms)
				leave(c)
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Second) // for what was under way
			})
		})
	}
}
