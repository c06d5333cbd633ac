package ghfake_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/sim"
	"github.com/google/go-cmp/cmp"
)

// faults are what each does to the one who makes a comment: the status, or an error of the connection, and whether the
// comment is there then.
var faults = map[string]string{
	"unauthorized": "401", "forbidden": "403", "forbidden-author": "403", "forbidden-sso": "403", "forbidden-pulls": "403",
	"locked": "403", "not-found": "404", "gone": "410", "too-long": "422", "invalid": "422", "legally-unavailable": "451", "echo": "403",
	"primary-403": "403", "primary-429": "429", "secondary-403": "403", "secondary-403-old": "403", "secondary-403-bare": "403",
	"secondary-403-long": "403", "secondary-429": "429", "secondary-429-bare": "429",
	"500": "500", "502": "502", "503": "503", "503-later": "503", "504": "504", "html": "200", "empty": "200", "null": "200",
	"500-after": "500 made", "502-after": "502 made", "503-after": "503 made", "504-after": "504 made", "html-after": "200 made",
	"empty-after": "200 made", "null-after": "200 made",
	"reset": "error", "hang": "error", "reset-after": "error made", "hang-after": "error made", "cut": "error made",
	"slow": "201 made", "huge": "201 made", "types": "201 made", "shape": "201 made", "other": "201 made",
	"redirect-301": "301", "redirect-302": "302", "redirect-303": "303", "redirect-307": "307", "redirect-308": "308",
	"redirect-301-away": "301", "redirect-302-away": "302", "redirect-303-away": "303", "redirect-307-away": "307",
	"redirect-308-away": "308", "redirect-loop": "307",
}

func TestEachFaultDoesWhatItsNameSays(t *testing.T) {
	got := map[string]string{}
	for _, name := range ghfake.Names() {
		synctest.Test(t, func(t *testing.T) {
			m := sim.NewMemory()
			s := ghfake.New(t, ghfake.Options{Listener: m, State: seed(), Faults: []ghfake.Fault{{Name: name, On: "create"}}})
			tr := &http.Transport{DialContext: m.Dial, DisableKeepAlives: true}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, "POST", s.URL+repo+"/issues/7/comments", strings.NewReader(comment("x")))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "token secret")
			got[name] = outcome(tr, r)
			if len(s.Comments(7)) > 0 {
				got[name] += " made"
			}
			s.Close()
			synctest.Wait()
		})
	}
	if diff := cmp.Diff(faults, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func outcome(tr *http.Transport, r *http.Request) string {
	a, err := tr.RoundTrip(r)
	if err != nil {
		return "error"
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(a.Body, 4<<20)); err != nil {
		return "error"
	}
	return fmt.Sprint(a.StatusCode)
}

func TestALimitOfAnHourSaysWhenItEnds(t *testing.T) {
	s := ghfake.New(t, ghfake.Options{State: seed(), Faults: []ghfake.Fault{{Name: "primary-403"}}})
	a := caller{t, s.URL, "secret", http.DefaultClient}.must("GET", repo+"/pulls/7", "")
	at, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || a.header.Get("X-RateLimit-Remaining") != "0" || time.Until(time.Unix(at, 0)) < time.Minute {
		t.Errorf("headers %v (%v)", a.header, err)
	}
}
