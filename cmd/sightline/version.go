package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by -ldflags "-X main.version=…".
var version string

// VersionCmd is sightline version.
type VersionCmd struct{}

// Run prints the version.
func (*VersionCmd) Run(term *terminal) error {
	_, err := fmt.Fprintf(term.stdout, "sightline %s (%s, %s/%s)\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// buildVersion is the version of this program, as far as its build knew it.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
