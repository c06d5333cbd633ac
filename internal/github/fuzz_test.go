package github_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/sim"
)

// liar answers some calls itself, and has the others answered by the fake.
type liar struct {
	fake   http.Handler
	host   string // the fake's
	lies   uint16 // the calls that it answers, by bits
	status int
	header string // "Name: value"
	body   string
	calls  int
	leak   string // another host that was shown the token
}

func (l *liar) RoundTrip(r *http.Request) (*http.Response, error) {
	l.calls++
	if "http://"+r.URL.Host != l.host && r.Header.Get("Authorization") != "" {
		l.leak = r.URL.Host
	}
	w := httptest.NewRecorder()
	if l.lies>>(l.calls%16)&1 == 0 {
		in := r.Clone(r.Context())
		in.Host = r.URL.Host
		if in.Body == nil {
			in.Body = http.NoBody
		}
		l.fake.ServeHTTP(w, in)
		return w.Result(), nil
	}
	if name, value, ok := strings.Cut(l.header, ": "); ok {
		w.Header().Set(name, value)
	}
	w.WriteHeader(l.status)
	_, _ = w.WriteString(l.body)
	a := w.Result()
	a.Request = r
	return a, nil
}

// FuzzAnswers has GitHub answer anything at any call: the client ends, tells what it did, and never tells the token.
func FuzzAnswers(f *testing.F) {
	f.Add(uint16(0), 200, "", "")
	f.Add(uint16(2), 403, "Retry-After: 1e9", `{"message":"secondary rate limit"}`)
	f.Add(uint16(4), 200, "Link: <https://127.0.0.2:2/?page=2>; rel=\"next\"", `[{"id":1,"body":"<!-- benchgate:benchgate head=`+headSHA+` run=50 attempt=1 -->\n<!-- benchgate-section:h100-1x head=`+headSHA+` run=50 attempt=1 rank=0 -->\nx\n<!-- benchgate-end:h100-1x -->"}]`)
	f.Add(uint16(0xffff), 200, "Link: <?page=2>; rel=\"next\"", `[null,{},{"user":null}]`)
	f.Add(uint16(8), 201, "", `{"id":-1}`)
	f.Add(uint16(0xffff), 429, "X-RateLimit-Remaining: 0", token)
	f.Add(uint16(0xffff), 307, "Location: //127.0.0.2:2/", "")
	f.Add(uint16(0xffc5), 307, "LoCAtion: /", "0")
	f.Fuzz(func(t *testing.T, lies uint16, status int, header, body string) {
		if status < 200 || status > 599 {
			return // net/http does not hand these on
		}
		synctest.Test(t, func(t *testing.T) {
			memory := sim.NewMemory()
			// A redirect may lead to any path of the same host: that the fake does not know it is no news here.
			fake, err := ghfake.Start(ghfake.Options{Repository: repository, State: open(), Listener: memory}, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				<-time.After(time.Minute) // in which the last timer of a call ends
				fake.Close()
			}()
			l := &liar{fake: fake, host: fake.URL, lies: lies, status: status, header: header, body: body}
			var said []string
			c, err := github.NewClient(github.ClientOptions{
				API: fake.URL, Token: token, Repository: repository, Transport: l, Say: func(s string) { said = append(said, s) },
			})
			if err != nil {
				t.Fatal(err)
			}
			posted := c.Publish(t.Context(), note(50, "new words"))
			if !slices.Contains([]string{"created", "updated", "unchanged", "superseded", "skipped", "failed"}, posted.Comment) {
				t.Errorf("the comment is %q", posted.Comment)
			}
			for _, s := range slices.Concat(said, posted.Errors) {
				if strings.Contains(s, token) || strings.ContainsAny(s, "\r\n\x1b") {
					t.Errorf("told with the token, or over several lines: %q", s)
				}
			}
			if l.leak != "" {
				t.Errorf("the token went to %q", l.leak)
			}
			if l.calls > 70 { // 12, and the pages of one list
				t.Errorf("%d calls", l.calls)
			}
		})
	})
}
