package keystore

import "context"

// What a keystore can do beside finding keys is found by type assertion, as what a
// key can sign is.

// Readier is a keystore that depends on something that can fail on its own, such as
// an HSM.
type Readier interface {
	// Ready returns nil if a key could sign now, else an error that wraps
	// ErrUnavailable. It answers within seconds even if what it asks does not.
	Ready(ctx context.Context) error
}

// Skipper is a keystore that goes on without keys that it cannot use or trust.
type Skipper interface {
	// Skipped returns one error for each key that is not used, and says why.
	Skipped() []error
}
