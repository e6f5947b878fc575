package harden

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// notDumpable holds where the limit does not: a core_pattern that pipes dumps to
// a program is not bound by it.
func notDumpable() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process undumpable: %w", err)
	}
	return nil
}
