// Package harden keeps a process that holds secrets out of core dumps and away
// from debuggers, as far as the system can.
package harden

// NoCoreDumps makes the process leave no core dump when it crashes. On Linux it
// also denies other processes of the same user ptrace and access through /proc, so
// that paths such as /dev/fd/3 must be opened before. It may be called more than once.
func NoCoreDumps() error { return noCoreDumps() }
