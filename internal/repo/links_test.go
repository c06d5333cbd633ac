package repo

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

func TestLinksIntoAFolderAreFollowedOneAfterAnother(t *testing.T) {
	folder, _ := repository(t)
	for name, to := range map[string]string{
		"serve": "base/serve", "ci/up": "../base/x", "twice": "ci/up", "whole": "./base/", "other": "Base/serve",
		"on/deep/shelf": "../../store/inner", "climb": "on/deep/shelf/../../base/y", // from store/inner up to the root, and in
		"ends": "ci/benchgate.yaml", "baseline": "base-2/x", "circle": "circle", "out": "../elsewhere/base/x", "fixed": "/srv/base/x",
		"base/own": "x", "odd\nname": "base/z",
	} {
		full := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, full); err != nil {
			t.Fatal(err)
		}
	}
	commit := repotest.Commit(t, folder)
	repotest.Put(t, folder, "later", "in the working tree alone")
	for _, c := range []struct {
		dir, into string
		want      []string
	}{
		{"", "base", []string{"ci/up", "climb", "odd\nname", "other", "serve", "twice", "whole"}},
		{"ci", "../base", []string{"ci/up", "climb", "odd\nname", "other", "serve", "twice", "whole"}},
		{"", "base/serve", []string{"other", "serve"}},
		{"", "serve/below", []string{"serve"}},
		{"", "nothing", nil},
		{"", "../base", nil},
		{"", ".", nil},
	} {
		got, err := LinksInto(t.Context(), filepath.Join(folder, c.dir), commit, c.into)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("%q from %q (-want +got):\n%s", c.into, c.dir, diff)
		}
		if says := got["twice"]; c.into == "base" && says != "ci/up" {
			t.Errorf("the link twice says %q", says)
		}
	}
	names := []string{"serve", "../serve", "up/bin/x", "benchgate.yaml", "/srv/base", "../../elsewhere", "../whole/x", "../on/deep/shelf/../x"}
	got, err := LedInto(t.Context(), filepath.Join(folder, "ci"), commit, "../base", names)
	if diff := cmp.Diff([]string{"../serve", "up/bin/x", "../whole/x"}, got); diff != "" || err != nil {
		t.Errorf("led from ci: error %v (-want +got):\n%s", err, diff)
	}
}

func TestAListingOfLinksThatGitDoesNotGiveIsRefused(t *testing.T) {
	for _, out := range []string{"", "id missing\n", "id blob x\n", "id blob 5\nabc\n", "id blob -1\nabc\n", "id tree 1\na\n"} {
		if _, _, err := blob([]byte(out)); err == nil || !strings.Contains(err.Error(), "git cat-file says") {
			t.Errorf("%q: error %v", out, err)
		}
	}
}
