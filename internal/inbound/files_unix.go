//go:build unix

package inbound

import "syscall"

// openFiles returns how many files the process may have open; 0 if that is not known.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 0
	}
	return int(limit.Cur)
}
