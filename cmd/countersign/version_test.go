package main

import (
	"runtime/debug"
	"testing"
)

func TestCommitOf(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abc"}
	for _, test := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{revision}, "0123abc"},
		{[]debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, "0123abc"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, revision}, "0123abc-dirty"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
	} {
		if got := commitOf(test.settings); got != test.want {
			t.Errorf("%v: %q, want %q", test.settings, got, test.want)
		}
	}
}

// TestVersionAtLinkTime: what the linker is told goes before what it knows.
func TestVersionAtLinkTime(t *testing.T) {
	version, commit = "v1.2.3", "4567def"
	defer func() { version, commit = "", "" }()
	if line := readVersion(); line.Version != "v1.2.3" || line.Commit != "4567def" || line.Go == "" || line.Cgo != cgo {
		t.Errorf("%+v", line)
	}
}
