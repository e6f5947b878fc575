package terminal

import "golang.org/x/sys/unix"

// discardTyped discards input that was typed but not read.
func discardTyped(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
