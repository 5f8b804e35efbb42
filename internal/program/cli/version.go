package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of a release, set by its build:
//
//	go build -ldflags "-X github.com/toolfit/toolfit/internal/program/cli.release=v0.1.0" ./cmd/toolfit
var release string

// build is what the program knows of how it was made.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`     // of the commit
	Modified bool   `json:"modified,omitempty"` // the working tree was not as the commit has it
	Go       string `json:"go"`
	System   string `json:"system"`
}

func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(release, info)
}

// buildOf reads what the Go command writes into programs; info may be nil.
func buildOf(release string, info *debug.BuildInfo) build {
	b := build{Version: release, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (c *command) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, and what it was built from", Args: noArguments,
		Example: `  toolfit version
  toolfit version --json`,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			b.Version = c.env.Version
			return c.printf(b, "%s", b.lines())
		},
	}
}

// lines is the build for people. The first line is that of --version.
func (b build) lines() string {
	text := fmt.Sprintf("toolfit %s\n", b.Version)
	if b.Commit != "" {
		text += fmt.Sprintf("commit  %s\n", b.commit())
	}
	if b.Date != "" {
		text += fmt.Sprintf("date    %s\n", b.Date)
	}
	return text + fmt.Sprintf("go      %s\nsystem  %s\n", b.Go, b.System)
}

func (b build) commit() string {
	if b.Modified {
		return b.Commit + " (modified)"
	}
	return b.Commit
}
