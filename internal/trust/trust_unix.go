//go:build unix

package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// permissionsAreReal reports whether the system enforces permission bits.
const permissionsAreReal = true

func owner(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// groupIsOurs reports whether the group of a file is one of this process that no other user of
// this machine is in.
func groupIsOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	groups, err := os.Getgroups()
	if gid := int(stat.Gid); err != nil || !slices.Contains(append(groups, os.Getegid()), gid) {
		return false
	}
	shared, known := sharedGroups.Load(stat.Gid)
	if !known {
		shared = hasOthers("/etc/group", "/etc/passwd", int(stat.Gid), os.Geteuid())
		sharedGroups.Store(stat.Gid, shared)
	}
	return !shared.(bool)
}

// sharedGroups remembers which groups have other users, for as long as the process runs.
var sharedGroups sync.Map

// hasOthers reports whether a group has a user besides uid and root, by the files of the system:
// a member (group(5)), or one whose own group it is (passwd(5)). Containers often have neither
// file, and then no other user.
func hasOthers(groupFile, passwdFile string, gid, uid int) bool {
	ours := map[string]bool{"root": true}
	others := false
	eachLine(passwdFile, 4, func(fields []string) {
		switch {
		case fields[2] == strconv.Itoa(uid), fields[2] == "0":
			ours[fields[0]] = true
		case fields[3] == strconv.Itoa(gid):
			others = true
		}
	})
	eachLine(groupFile, 4, func(fields []string) {
		if fields[2] != strconv.Itoa(gid) {
			return
		}
		for member := range strings.SplitSeq(fields[3], ",") {
			others = others || member != "" && !ours[member]
		}
	})
	return others
}

// eachLine passes the fields of the lines of a file that has at least some, separated by colons.
func eachLine(path string, least int, use func(fields []string)) {
	content, err := os.ReadFile(path)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) >= least {
			use(fields)
		}
	}
}

// isReadOnly reports whether a file is on a mount that cannot be written.
func isReadOnly(path string) bool {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_ = file.Close()
	}
	return errors.Is(err, syscall.EROFS)
}

func userName(uid int) string {
	if account, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return "user " + account.Username
	}
	return fmt.Sprintf("user %d", uid)
}

func keepOwner(file *os.File, replaced fs.FileInfo) error {
	old, ok := replaced.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if now, ok := info.Sys().(*syscall.Stat_t); ok && now.Uid == old.Uid && now.Gid == old.Gid {
		return nil
	}
	return file.Chown(int(old.Uid), int(old.Gid))
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
