package file

import (
	"errors"
	"fmt"
	"strings"
)

// Errors for errors.Is. Those about one file come as a *Error.
var (
	// ErrPassphrase: the passphrase does not open identity.age.
	ErrPassphrase = errors.New("wrong passphrase, or the file is damaged")

	// ErrWorkFactor: identity.age asks for more scrypt than
	// Options.MaxWorkFactor allows.
	ErrWorkFactor = errors.New("scrypt work factor above the limit")

	// ErrNotAuthentic: a key file was not made by who knows the passphrase, or
	// was altered since.
	ErrNotAuthentic = errors.New("not authentic")

	// ErrMalformed: a file is not what its name says.
	ErrMalformed = errors.New("malformed")

	// ErrPermissions: a file or directory is open to others, or is no regular
	// file.
	ErrPermissions = errors.New("bad permissions")

	// ErrLocked: another process holds the lock, and has not got on with its
	// writing for Options.LockWait.
	ErrLocked = errors.New("the keystore is in use by another process")
)

// Error says which file is bad, and why.
type Error struct {
	Path string // as the directory was given, so that it can be opened from here
	Err  error
}

// Error returns path and reason.
func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// BadFilesError is what Open returns if key files are bad: all of them.
type BadFilesError struct {
	Files []*Error // by path
	Total int      // how many key files there are
}

// Error names every bad file and says what can be done.
func (e *BadFilesError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "file keystore: %d of %d key files cannot be trusted:", len(e.Files), e.Total)
	for _, bad := range e.Files {
		text.WriteString("\n\t" + bad.Error())
	}
	text.WriteString("\nrestore them from a backup or move them away; leaving them out takes an option that says so (SkipInvalid)")
	return text.String()
}

// Unwrap returns the errors of the files.
func (e *BadFilesError) Unwrap() []error {
	errs := make([]error, len(e.Files))
	for i, bad := range e.Files {
		errs[i] = bad
	}
	return errs
}
