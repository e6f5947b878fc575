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
	exitUsage   = 2 // wrong usage

	// exitLogin means that serve could not log in to the HSM, and must not be restarted
	// before an operator has looked. packaging/countersign.service names it.
	exitLogin = 77
)

// lockedError means that an HSM refused the login of serve.
type lockedError struct{ error }

func (e *lockedError) Unwrap() error { return e.error }

// usageError means that the command was used wrongly.
type usageError struct{ problem string }

func (e *usageError) Error() string { return e.problem }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// exitCode returns the status for an error. Errors before the command's own code has
// started are wrong usage.
func exitCode(err error, started bool) int {
	if err == nil {
		return exitSuccess
	}
	if _, isUsage := errors.AsType[*usageError](err); isUsage || !started {
		return exitUsage
	}
	if _, isLocked := errors.AsType[*lockedError](err); isLocked {
		return exitLogin
	}
	return exitFailure
}

// cleanText returns text for a terminal. It replaces control characters: an error may
// quote a file name, or a server may answer with text, that could move the cursor or hide
// text.
func cleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
