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

	// ErrWorkFactor: identity.age demands a higher scrypt work factor than
	// Options.MaxWorkFactor allows.
	ErrWorkFactor = errors.New("scrypt work factor above the limit")

	// ErrNotAuthentic: a key file was written without knowledge of the passphrase, or
	// altered since.
	ErrNotAuthentic = errors.New("not authentic")

	// ErrMalformed: a file does not have the format that its name requires.
	ErrMalformed = errors.New("malformed")

	// ErrPermissions: other users can access a file or directory, or it is not of the
	// expected type.
	ErrPermissions = errors.New("bad permissions")

	// ErrLocked: another process or Store has held the lock for Options.LockWait without
	// making progress.
	ErrLocked = errors.New("the keystore is in use by another process")
)

// Error names a bad file and the reason.
type Error struct {
	Path string // begins with the directory as it was passed to Create or Open
	Err  error
}

// Error returns the path and the reason.
func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// BadFilesError is the error of Open if key files are bad. It lists all of them.
type BadFilesError struct {
	Files []*Error // sorted by path
	Total int      // number of key files in the keystore, bad ones included
}

// Error names every bad file and the cure.
func (e *BadFilesError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "file keystore: %d of %d key files cannot be trusted:", len(e.Files), e.Total)
	for _, bad := range e.Files {
		text.WriteString("\n\t" + bad.Error())
	}
	text.WriteString("\nrestore them from a backup or move them away; or continue without them (Options.SkipInvalid)")
	return text.String()
}

func (e *BadFilesError) Unwrap() []error {
	errs := make([]error, len(e.Files))
	for i, bad := range e.Files {
		errs[i] = bad
	}
	return errs
}
