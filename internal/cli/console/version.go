package console

import (
	"cmp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// NewVersionCommand returns the command version of a program with key services, by their schemes.
func NewVersionCommand(services []string) *cobra.Command {
	var output OutputFlag
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: Paragraphs(`
Print the version, the commit, the version of Go, the platform, the libraries that
compute signatures, and the key services that the program can sign with: as text on a
terminal, otherwise as one line of JSON.

A build with cgo uses libsecp256k1, and supports keys in an HSM. A build without cgo
uses secp256k1-voi, in Go, which is slower. Both use secp256k1-voi for BIP-340 (taproot);
with cgo, libsecp256k1 multiplies the base point for it.
These libraries are written to run in constant time.

The Go tools put this information into the binary. 'go version -m' shows it without
running the binary, and lists the modules too.`),
		Example: "  countersign version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return PrintVersion(cmd, output.IsText(), services)
		},
	}
	output.RegisterListing(command)
	return command
}

// PrintVersion prints the version, as text or as JSON.
func PrintVersion(cmd *cobra.Command, asText bool, services []string) error {
	info, _ := debug.ReadBuildInfo()
	line := VersionOf(info)
	if !asText {
		return PrintJSON(cmd.OutOrStdout(), struct {
			VersionLine
			Services []string `json:"services,omitempty"`
		}{line, services})
	}
	return PrintDetails(cmd.OutOrStdout(), []Detail{
		{"version", line.Version}, {"commit", line.Commit}, {"Go", line.Go}, {"cgo", strconv.FormatBool(line.Cgo)},
		{"platform", line.Platform}, {"secp256k1", line.Secp256k1}, {"BIP-340", line.BIP340},
		{"key services", cmp.Or(strings.Join(services, ", "), "none")},
	})
}

// VersionLine is the output of version.
type VersionLine struct {
	Version   string `json:"version"` // a tag, or the pseudo-version of an untagged commit; "(devel)" if unknown
	Commit    string `json:"commit"`  // with "-dirty" if there were changes; empty if unknown, as after 'go install …@v1.2.3'
	Go        string `json:"go"`
	Cgo       bool   `json:"cgo"`
	PKCS11    bool   `json:"pkcs11"`    // supports keys in an HSM
	Platform  string `json:"platform"`  // GOOS/GOARCH
	Secp256k1 string `json:"secp256k1"` // the library for ECDSA signatures
	BIP340    string `json:"bip340"`    // the library for taproot signatures
}

const bip340 = "secp256k1-voi"

// VersionOf returns the version in a binary's build information, which may be nil.
func VersionOf(info *debug.BuildInfo) VersionLine {
	line := VersionLine{Cgo: cgo, PKCS11: cgo, Secp256k1: secp256k1, BIP340: bip340}
	if info == nil {
		return line
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	line.Version, line.Go = info.Main.Version, info.GoVersion
	line.Commit = settings["vcs.revision"]
	if line.Commit != "" && settings["vcs.modified"] == "true" {
		line.Commit += "-dirty"
	}
	line.Platform = settings["GOOS"] + "/" + settings["GOARCH"]
	return line
}
