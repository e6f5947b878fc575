package console

import (
	"runtime/debug"
	"testing"
)

// TestVersionOf covers builds of a tag, of an untagged commit, of a modified work tree,
// of a tree without git, and one without build information.
func TestVersionOf(t *testing.T) {
	const commit = "babea06689391c7561032c739b15aa3ff476ac8f"
	at := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "GOARCH", Value: "arm64"}, {Key: "GOOS", Value: "linux"},
			{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: modified},
		}
	}
	platform := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}}
	for name, test := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		commit   string
	}{
		"installed": {"v1.2.3", platform, ""},
		"checkout":  {"v0.0.0-20261120190805-babea0668939", at("false"), commit},
		"changed":   {"v1.2.4-0.20261120190805-babea0668939+dirty", at("true"), commit + "-dirty"},
		"no git":    {"(devel)", append(platform, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), ""},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: test.version}, Settings: test.settings}
		want := VersionLine{test.version, test.commit, "go1.26.0", cgo, cgo, "linux/arm64", secp256k1, bip340}
		if got := VersionOf(info); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got, want := VersionOf(nil), (VersionLine{Cgo: cgo, PKCS11: cgo, Secp256k1: secp256k1, BIP340: bip340}); got != want {
		t.Errorf("without build information: %+v, want %+v", got, want)
	}
}
