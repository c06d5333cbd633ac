package main

import (
	"strings"
	"testing"
)

func TestInitSaysWhereTheProgramComesFrom(t *testing.T) {
	for name, c := range map[string]struct {
		open         bool
		version      string
		zeros, built bool
	}{
		"a release that knows its commit":         {false, "v1.2.3", false, false},
		"a release that does not":                 {true, "v1.2.3", true, false},
		"a build of a commit":                     {false, "", false, true},
		"a candidate of a release":                {false, "v1.2.3-rc.1", false, true},
		"a build of who knows what":               {true, "", true, true},
		"a version with something else behind it": {false, "v1.2.3 or so", false, true},
	} {
		hints := strings.Join(pinHints(c.open, c.version), "\n")
		if strings.Contains(hints, "zeros") != c.zeros || strings.Contains(hints, "every job builds") != c.built {
			t.Errorf("%s: %q", name, hints)
		}
	}
}
