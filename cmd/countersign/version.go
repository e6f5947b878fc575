package main

import (
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	var output outputFlag
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: paragraphs(`
Print, as one line of JSON unless on a terminal, the version, the commit, the version of Go, the platform
that it was built for, and whether cgo is linked. With cgo, secp256k1 is
libsecp256k1, and keys can be in an HSM; without, it is secp256k1-voi, in Go,
which is slower. BIP-340 (taproot) is secp256k1-voi in either build. All of them
are written to run in constant time.

All of it is what the Go tools put into the binary: 'go version -m' reads it
without running it, and shows the modules, too.`),
		Example: "  countersign version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asText, err := output.isText(cmd)
			if err != nil {
				return err
			}
			return printVersion(cmd, asText)
		},
	}
	output.registerListing(command)
	return command
}

func printVersion(cmd *cobra.Command, asText bool) error {
	info, _ := debug.ReadBuildInfo()
	line := versionOf(info)
	if !asText {
		return printJSON(cmd.OutOrStdout(), line)
	}
	return printDetails(cmd.OutOrStdout(), []detail{
		{"version", line.Version}, {"commit", line.Commit}, {"Go", line.Go}, {"cgo", strconv.FormatBool(line.Cgo)},
		{"platform", line.Platform}, {"secp256k1", line.Secp256k1}, {"BIP-340", line.BIP340},
	})
}

// versionLine is what version prints.
type versionLine struct {
	Version   string `json:"version"` // a tag, or what stands for a commit without one; "(devel)" if that is unknown
	Commit    string `json:"commit"`  // "-dirty" behind it: with changes; empty if unknown, as after 'go install …@v1.2.3'
	Go        string `json:"go"`
	Cgo       bool   `json:"cgo"`
	PKCS11    bool   `json:"pkcs11"`    // whether keys can be in an HSM
	Platform  string `json:"platform"`  // GOOS/GOARCH
	Secp256k1 string `json:"secp256k1"` // which library makes ECDSA signatures
	BIP340    string `json:"bip340"`    // which library makes those of taproot
}

// bip340 is the library of BIP-340, in every build.
const bip340 = "secp256k1-voi"

// versionOf reads what the Go tools put into a binary; nil if they were kept
// from it.
func versionOf(info *debug.BuildInfo) versionLine {
	line := versionLine{Cgo: cgo, PKCS11: cgo, Secp256k1: secp256k1, BIP340: bip340}
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
