package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the release build; otherwise the build information speaks.
var version string

type versionCmd struct{}

// Run prints the version, the Go release and the platform.
func (versionCmd) Run(sh *shell) error {
	_, err := fmt.Fprintf(sh.stdout, "benchgate %s %s %s/%s\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// programRevision is the commit that the program was built from, as it stands there; "" where that is not known.
func programRevision() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	revision := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value != "false":
			return ""
		}
	}
	return revision
}
