//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
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

func inOurGroups(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	groups, err := os.Getgroups()
	return err == nil && slices.Contains(append(groups, os.Getegid()), int(stat.Gid))
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
