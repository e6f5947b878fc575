package keystore

import (
	"context"
	"io"
	"iter"
	"time"
)

// Keystore finds keys. Implementations must be safe for concurrent use.
type Keystore interface {
	// Find returns the organization's key at the locator. It returns ErrKeyNotFound if the
	// organization has none, regardless of other organizations, ErrClosed after Close, and
	// the context's error if the context has ended.
	Find(ctx context.Context, organizationID string, locator Locator) (Key, error)

	// Keys lists the keys of an organization, oldest first. If the listing fails, it yields
	// one error and stops.
	Keys(ctx context.Context, organizationID string) iter.Seq2[KeyInfo, error]

	// Close overwrites the secrets and makes every handle return ErrClosed. It waits for
	// signatures in progress. Closing again does nothing.
	io.Closer
}

// Key is a handle to one key. Its capabilities are found by asserting [ECDSASigner],
// [SchnorrSigner] or [Ed25519Signer].
type Key interface {
	// ID returns the key's id. The backends of this module generate UUIDs; any text that is
	// unique within the organization is valid.
	ID() string

	// PublicKey returns the public key, which must be derived from or proved by the secret,
	// rather than claimed by a caller or a file.
	PublicKey() PublicKey
}

// KeyInfo describes a key in a listing.
type KeyInfo struct {
	ID        string
	Name      string // free text, may be empty; not unique
	PublicKey PublicKey
	CreatedAt time.Time // UTC, to the second; zero if the backend does not store it

	// ActsFor is the account that the key signs for instead of its own, as an access key on
	// Tempo: its address in 40 lower-case hex digits. Empty if none.
	ActsFor string
}
