package terminal

import "golang.org/x/sys/unix"

// discardTyped throws away what was typed and not read yet.
func discardTyped(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
