package console

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Exit statuses.
const (
	ExitSuccess = 0
	ExitFailure = 1 // refused or failed
	ExitUsage   = 2 // wrong usage

	// ExitLogin means that serve could not log in to the HSM, and must not be restarted
	// before an operator has looked. packaging/countersign.service names it.
	ExitLogin = 77
)

// LockedError means that an HSM refused the login of serve.
type LockedError struct{ Cause error }

func (e *LockedError) Error() string { return e.Cause.Error() }
func (e *LockedError) Unwrap() error { return e.Cause }

// UsageError means that the command was used wrongly.
type UsageError struct{ problem string }

func (e *UsageError) Error() string { return e.problem }

// Usagef returns an error in the usage of a command, with which it exits with ExitUsage.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// ExitCode returns the status for an error. Errors before the command's own code has
// started are wrong usage.
func ExitCode(err error, started bool) int {
	if err == nil {
		return ExitSuccess
	}
	if _, isUsage := errors.AsType[*UsageError](err); isUsage || !started {
		return ExitUsage
	}
	if _, isLocked := errors.AsType[*LockedError](err); isLocked {
		return ExitLogin
	}
	return ExitFailure
}

// CleanText returns text for a terminal. It replaces control characters: an error may quote a file
// name, or a server may answer with text, that could move the cursor or hide text.
func CleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
