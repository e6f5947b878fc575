package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Exit statuses.
const (
	exitSuccess = 0
	exitFailure = 1 // refused or failed
	exitUsage   = 2 // called wrongly

	// exitLogin: serve could not log in to the HSM, and must not be restarted before a
	// person has looked. packaging/countersign.service names it.
	exitLogin = 77
)

// lockedError says that an HSM refused the login of serve.
type lockedError struct{ error }

func (e *lockedError) Unwrap() error { return e.error }

// usageError says that the command was called wrongly.
type usageError struct{ problem string }

func (e *usageError) Error() string { return e.problem }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// exitCode returns the status for an error; started tells whether the
// command's own code had begun.
func exitCode(err error, started bool) int {
	if err == nil {
		return exitSuccess
	}
	if _, wrong := errors.AsType[*usageError](err); wrong || !started {
		return exitUsage
	}
	if _, locked := errors.AsType[*lockedError](err); locked {
		return exitLogin
	}
	return exitFailure
}

// shown returns an error's text for a terminal. File names are part of some,
// and a file's name could move the cursor or hide text.
func shown(err error) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, err.Error())
}
