package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/trust"
)

// newFile creates a file in a directory, and sets its owner and modes.
func newFile(t *testing.T, directoryMode, mode os.FileMode, uid, gid int) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "d")
	path := filepath.Join(directory, "file")
	for _, err := range []error{
		os.Mkdir(directory, 0o700), os.WriteFile(path, nil, 0o600), os.Chown(path, uid, gid), os.Chmod(path, mode), os.Chmod(directory, directoryMode),
	} {
		testenv.Must(t, err)
	}
	return path
}

const nobody = 65534

// canGive reports whether the test may set this owner, which takes root unless it is its own user.
func canGive(uid, gid int) bool {
	return os.Geteuid() == 0 || (uid == -1 || uid == os.Geteuid()) && (gid == -1 || gid == os.Getegid())
}

func TestSecret(t *testing.T) {
	for _, c := range []struct {
		name     string
		mode     os.FileMode
		uid, gid int
		want     string
	}{
		{"own", 0o600, -1, -1, ""},
		{"own, read only", 0o400, -1, -1, ""},
		{"of Kubernetes", 0o440, 0, os.Getegid(), ""},
		{"of Kubernetes, another's group", 0o440, -1, nobody, "others can read it (mode 0440)"},
		{"of Kubernetes, 0640", 0o640, 0, os.Getegid(), ""},
		{"of a volume of Kubernetes", 0o660, -1, os.Getegid(), ""},
		{"another's group, writable", 0o660, -1, nobody, "others can read it (mode 0660): run 'chmod 600"},
		{"of Docker, for everyone to read", 0o444, -1, -1, "others can read it (mode 0444)"},
		{"for everyone to write", 0o602, -1, -1, "others can read it (mode 0602)"},
		{"another's", 0o600, nobody, -1, "belongs to user"},
	} {
		if !canGive(c.uid, c.gid) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := newFile(t, 0o700, c.mode, c.uid, c.gid)
			link := filepath.Join(t.TempDir(), "link") // Kubernetes mounts links
			testenv.Must(t, os.Symlink(path, link))
			info, err := os.Stat(link)
			testenv.Must(t, err)
			mustBe(t, trust.Secret(info, path), c.want)
		})
	}
}

func TestAuthority(t *testing.T) {
	for _, c := range []struct {
		name            string
		directory, mode os.FileMode
		uid             int
		want            string
	}{
		{"own", 0o755, 0o644, -1, ""},
		{"in /tmp", 0o777 | os.ModeSticky, 0o644, -1, ""},
		{"for our group to write", 0o755, 0o664, -1, ""},
		{"for everyone to write", 0o755, 0o646, -1, "others can write it (mode 0646)"},
		{"where everyone can replace it", 0o777, 0o644, -1, "its directory has mode 0777"},
		{"another's", 0o755, 0o644, nobody, "belongs to user"},
	} {
		if !canGive(c.uid, -1) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			file, err := os.Open(newFile(t, c.directory, c.mode, c.uid, -1))
			testenv.Must(t, err)
			defer file.Close()
			mustBe(t, trust.Authority(file), c.want)
		})
	}
}

// TestAuthorityOfAGroup checks that a group with other users may not write.
func TestAuthorityOfAGroup(t *testing.T) {
	testenv.Superuser(t)
	path := newFile(t, 0o755, 0o664, -1, nobody)
	file, err := os.Open(path)
	testenv.Must(t, err)
	defer file.Close()
	mustBe(t, trust.Authority(file), "others can write it (mode 0664)")
}

func TestOwnDirectory(t *testing.T) {
	for uid, want := range map[int]string{-1: "", nobody: "run this as its owner, with 'sudo -u'"} {
		if !canGive(uid, -1) {
			continue
		}
		path := newFile(t, 0o700, 0o600, uid, -1)
		info, err := os.Stat(path)
		testenv.Must(t, err)
		mustBe(t, trust.OwnDirectory(info, path), want)
	}
}

func mustBe(t *testing.T, err error, want string) {
	t.Helper()
	if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
