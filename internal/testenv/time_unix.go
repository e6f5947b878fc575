//go:build unix

package testenv

import (
	"syscall"
	"testing"
	"time"
)

// OwnTime returns the processor time that this process has used.
func OwnTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
