package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: paragraphs(`
Print one line of JSON: the version, the commit, the version of Go, the platform
that it was built for, and whether cgo is linked. With cgo, secp256k1 is
libsecp256k1, and keys can be in an HSM; without, it is secp256k1-voi, in Go,
which is slower. BIP-340 (taproot) is secp256k1-voi in either build. All of them
are written to run in constant time.

All of it is what the Go tools put into the binary: 'go version -m' reads it
without running it, and shows the modules, too.`),
		Example: "  countersign version",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

func printVersion(cmd *cobra.Command) error {
	info, _ := debug.ReadBuildInfo()
	return printJSON(cmd.OutOrStdout(), versionOf(info))
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
