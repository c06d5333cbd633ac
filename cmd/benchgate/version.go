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
