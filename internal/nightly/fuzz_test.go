package nightly

import (
	"testing"
	"unicode"

	"github.com/benchgate/benchgate/internal/bench"
)

// Whatever lies on the data branch, a night has the name of a night, a runner that is one, and digests that are of it.
func FuzzNightsAreReadAsHostile(f *testing.F) {
	f.Add("nights/2026-09-01-1/lab/chat.json", []byte("{}"))
	f.Add("nights/2026-09-01-1/lab/chat.json", []byte(`{"schema": "benchgate.digest/v1", "runner": "mac", "scenario": "chat"}`))
	f.Add("nights/../main/lab/chat.json", []byte("{"))
	f.Add("nights/2026-09-01-1/-rf/a/b.json", []byte(nil))
	f.Fuzz(func(t *testing.T, path string, data []byte) {
		if !placeOf(path).ok {
			return
		}
		for _, n := range nightsOf(map[string][]byte{path: data}) {
			if !isNight.MatchString(n.Name) || bench.CheckName("runner", n.Runner) != nil {
				t.Errorf("%q is a night %q of runner %q", path, n.Name, n.Runner)
			}
			for _, d := range n.Digests {
				if n.Damaged == nil && d.Runner+"/"+d.Scenario+".json" != placeOf(path).below {
					t.Errorf("%q holds %q of runner %q, undamaged", path, d.Scenario, d.Runner)
				}
			}
		}
	})
}

func FuzzListingOfObjectsIsTakenApart(f *testing.F) {
	f.Add([]byte("0123 blob 3\nabc\n"))
	f.Add([]byte("0123 blob 99999999999999999999\nabc\n"))
	f.Add([]byte("0123 missing\n"))
	f.Add([]byte("0123 blob -1\n\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		files, err := unbatch(out, []string{"a", "b"})
		if err == nil && len(files["a"])+len(files["b"]) > len(out) {
			t.Errorf("more bytes than there are: %q", files)
		}
	})
}

func FuzzForeignTextIsOneLine(f *testing.F) {
	f.Add("a\n~~~\n@everyone \u202e\u200d\x1b[31m")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range oneLine(s) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
				t.Errorf("%q keeps %q", s, r)
			}
		}
	})
}
