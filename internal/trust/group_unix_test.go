//go:build unix

package trust

import (
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestHasOthers checks who is in a group: its members, and those whose own group it is.
func TestHasOthers(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		testenv.Write(t, path, []byte(text))
		return path
	}
	passwd := write("root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nben:x:1001:2000::/home/ben:/bin/sh\nbroken\n")
	for _, c := range []struct {
		name, group string
		gid, uid    int
		want        bool
	}{
		{"nothing known", "", 2001, 65532, false},
		{"our own", "ann:x:1000:\n", 1000, 1000, false},
		{"we are a member", "shared:x:3000:ann\n", 3000, 1000, false},
		{"root is a member", "shared:x:3000:root,ann\n", 3000, 1000, false},
		{"another is a member", "shared:x:3000:ann,ben\n", 3000, 1000, true},
		{"another's own", "", 2000, 1000, true},
		{"of root", "root:x:0:\n", 0, 0, false},
		{"the group of another line", "shared:x:30:ben\n", 3000, 1000, false},
		{"in a container, an unknown uid", "shared:x:3000:\n", 3000, 65532, false},
	} {
		if got := hasOthers(write(c.group), passwd, c.gid, c.uid); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if hasOthers("/none", "/none", 1, 2) {
		t.Error("without files a group has others")
	}
}
