package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set at link time by -ldflags '-X main.version=… -X main.commit=…'; what is
// empty is taken from what the Go tools put into the binary.
var (
	version string
	commit  string
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: paragraphs(`
Print one line of JSON: the version, the commit, the version of Go, and whether
secp256k1 is libsecp256k1 by cgo or its slower equivalent in Go.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printJSON(cmd.OutOrStdout(), readVersion())
		},
	}
}

// versionLine is what version prints.
type versionLine struct {
	Version string `json:"version"` // "(devel)" if it was built from a work tree
	Commit  string `json:"commit"`  // "-dirty" behind it: with changes; empty if unknown
	Go      string `json:"go"`
	Cgo     bool   `json:"cgo"`
}

func readVersion() versionLine {
	line := versionLine{Version: version, Commit: commit, Cgo: cgo}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return line
	}
	line.Go = info.GoVersion
	if line.Version == "" {
		line.Version = info.Main.Version
	}
	if line.Commit == "" {
		line.Commit = commitOf(info.Settings)
	}
	return line
}

func commitOf(settings []debug.BuildSetting) string {
	revision, dirty := "", ""
	for _, setting := range settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}
