//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

// fread picks the queue of what was typed: FREAD of <sys/fcntl.h>.
const fread = 1

// discardTyped throws away what was typed and not read yet.
func discardTyped(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread) }
