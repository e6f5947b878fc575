//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

// fread selects the input queue: FREAD of <sys/fcntl.h>.
const fread = 1

// discardTyped discards input that was typed but not read.
func discardTyped(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread) }
