//go:build !unix

package testenv

import "os/exec"

// runAs does nothing: only on Unix do tests run as root, which PgBouncer refuses.
func runAs(*exec.Cmd, int, int) {}
