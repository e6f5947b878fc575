package keystore

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors that every backend reports, for errors.Is.
var (
	// ErrKeyNotFound: the organization has no key at this locator. A key of
	// another organization is not found either.
	ErrKeyNotFound = errors.New("keystore: no such key")

	// ErrKeyExists: the organization has a key with this id, or this very key.
	ErrKeyExists = errors.New("keystore: key exists already")

	// ErrClosed: the keystore was closed, and with it the handles it gave out.
	ErrClosed = errors.New("keystore: closed")

	// ErrWithdrawn: the key of this handle was disabled, deleted or replaced after it
	// was found. Finding it again says which key there is now, if any.
	ErrWithdrawn = errors.New("keystore: the key was withdrawn after it was found")

	// ErrUnavailable: what keeps the keys cannot be reached now: a token that was
	// removed, hangs or refuses the login. The same call may succeed later.
	ErrUnavailable = errors.New("keystore: unavailable")

	// ErrUnsupported: the key cannot make the signature that is asked for.
	ErrUnsupported = errors.New("keystore: unsupported by this key")

	// ErrSignatureCheck: a backend returned a signature that does not verify
	// under the public key of its handle. The signature is not released.
	ErrSignatureCheck = errors.New("keystore: signature check failed")
)

// Keystore finds keys. Implementations are safe for concurrent use.
type Keystore interface {
	// Find returns the key of the organization that is found at the locator.
	// It returns ErrKeyNotFound if the organization has none, whatever other
	// organizations have, ErrClosed after Close, and the context's error if
	// the context ended first.
	Find(ctx context.Context, organizationID string, at Locator) (Key, error)

	// Keys lists the keys of an organization, oldest first. It yields one
	// error and stops when the listing cannot go on.
	Keys(ctx context.Context, organizationID string) iter.Seq2[KeyInfo, error]

	// Close overwrites the secrets and makes every handle return ErrClosed. It
	// waits for signatures that are being made. Closing again does nothing.
	io.Closer
}

// Key is a handle to one key. What it can sign is found by asserting
// [ECDSASigner], [SchnorrSigner] or [Ed25519Signer].
type Key interface {
	// ID is the key's id: a UUID for keys that our backends made, but any
	// text that is unique within the organization serves.
	ID() string

	// PublicKey is derived from the secret inside the handle; it is not
	// something a caller or a file claims.
	PublicKey() PublicKey
}

// KeyInfo is what a listing tells of a key.
type KeyInfo struct {
	ID        string
	Name      string // free text, may be empty; not unique
	PublicKey PublicKey
	CreatedAt time.Time // UTC, to the second; zero if the backend keeps none

	// ActsFor is the account that the key signs for in place of its own, as an access
	// key of Tempo does: its address in lower-case hex, 40 digits. Empty if none.
	ActsFor string
}
