package keystore

import (
	"errors"
	"fmt"
	"time"
)

// Errors of all backends, for errors.Is. A backend reports a failure of its device or
// service as one of these; the engine answers by them and hides the text:
//
//	the backend says                                error              the engine answers
//	there is no such key                            ErrKeyNotFound     RESOURCE_NOT_FOUND
//	the right to use it is missing                  ErrDenied          UNAVAILABLE
//	too many requests                               *ThrottledError    UNAVAILABLE, Retry-After
//	nothing, too late, or that it is broken         ErrUnavailable     UNAVAILABLE
//	something that is not the signature asked for   ErrSignatureCheck  INTERNAL, which pages
//
// ErrDenied and *ThrottledError are ErrUnavailable as well.
var (
	// ErrKeyNotFound: the organization has no key at this locator. Keys of other
	// organizations are not found.
	ErrKeyNotFound = errors.New("keystore: no such key")

	// ErrKeyExists: the organization has a key with this id or this secret.
	ErrKeyExists = errors.New("keystore: key exists already")

	// ErrClosed: the keystore was closed, which also closes its handles.
	ErrClosed = errors.New("keystore: closed")

	// ErrWithdrawn: the key of this handle was disabled, deleted or replaced after it was
	// found. Find returns the current key, if any.
	ErrWithdrawn = errors.New("keystore: the key was withdrawn after it was found")

	// ErrUnavailable: the storage of the keys cannot be used at the moment, such as a token
	// that was removed, hangs or refuses the login. The same call may succeed later.
	ErrUnavailable = errors.New("keystore: unavailable")

	// ErrDenied: the backend refuses the login or the use of the key. The same call fails
	// until the operator changes the credentials or the rights.
	ErrDenied = fmt.Errorf("%w: denied", ErrUnavailable)

	// ErrUnsupported: the key cannot make this kind of signature.
	ErrUnsupported = errors.New("keystore: unsupported by this key")

	// ErrSignatureCheck: a backend returned a signature that does not verify under the
	// public key of its handle, or something that is no signature. It is not released.
	ErrSignatureCheck = errors.New("keystore: signature check failed")
)

// ThrottledError says that the backend accepts no more requests for now. It is an ErrUnavailable.
type ThrottledError struct {
	RetryAfter time.Duration // as the backend says; 0 if it does not
	Err        error         // the backend's
}

func (e *ThrottledError) Error() string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("%v: throttled, retry after %v: %v", ErrUnavailable, e.RetryAfter, e.Err)
	}
	return fmt.Sprintf("%v: throttled: %v", ErrUnavailable, e.Err)
}

func (e *ThrottledError) Unwrap() []error { return []error{ErrUnavailable, e.Err} }
