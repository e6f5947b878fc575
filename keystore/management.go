package keystore

import (
	"context"
	"time"
)

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

// Generator is a keystore that makes new keys.
type Generator interface {
	// Generate makes a new key in an organization. When it returns without error the
	// key is safe: on disk, or in the HSM.
	Generate(ctx context.Context, organizationID, name string, curve Curve) (KeyInfo, error)
}

// NewKey is a key that is to be added to a keystore.
type NewKey struct {
	ID        string      // a UUID; a new one if empty
	Name      string      // free text
	Curve     Curve       // what the secret is for
	Secret    SecretBytes // SecretSize bytes; copied, the caller still owns them
	PublicKey PublicKey   // if not zero, a secret that belongs to another is refused
	CreatedAt time.Time   // now if zero; kept to the second, by backends that keep it
	ActsFor   string      // KeyInfo.ActsFor; refused by backends that do not keep it
}

// Importer is a keystore that takes secrets in.
type Importer interface {
	// AddBatch adds keys to an organization. Both slices have one element for each key,
	// in order: infos[i] is safe if errs[i] is nil. The error of a key whose id or
	// secret the organization has already is ErrKeyExists, together with what there is.
	AddBatch(ctx context.Context, organizationID string, keys []NewKey) (infos []KeyInfo, errs []error)
}

// Exporter is a keystore that gives secrets out.
type Exporter interface {
	// RevealSecret calls use with the SecretSize bytes of a key, which use must not
	// keep.
	RevealSecret(ctx context.Context, organizationID, id string, use func(secret []byte) error) error
}

// Renamer is a keystore whose keys can be renamed.
type Renamer interface {
	// Rename gives a key another name. Its id stays.
	Rename(ctx context.Context, organizationID, id, name string) error
}

// Deleter is a keystore whose keys can be deleted.
type Deleter interface {
	// Delete removes a key for good: there is no way back but a copy that was made
	// before.
	Delete(ctx context.Context, organizationID, id string) error
}

// Disabler is a keystore whose keys can be put out of use and back into it.
type Disabler interface {
	// Disable puts a key out of use: from when it returns on, the key is not found, in
	// any process that has the keystore open; only what has found it before may still
	// be signed. Its secret stays where it is kept. Disabling a key that is disabled
	// does nothing.
	Disable(ctx context.Context, organizationID, id string) error

	// Enable undoes Disable.
	Enable(ctx context.Context, organizationID, id string) error

	// Disabled lists the keys that are disabled, oldest first. Keys does not list them.
	Disabled(ctx context.Context, organizationID string) ([]KeyInfo, error)
}

// Delegator is a keystore whose keys can be made to sign for another account.
type Delegator interface {
	// ActFor sets KeyInfo.ActsFor of a key; empty, it signs for its own again.
	ActFor(ctx context.Context, organizationID, id, account string) error
}

// Archiver is a keystore that can delete keys in such a way that they can be restored.
type Archiver interface {
	// Archive takes a key, or a wallet with all its keys, out of use and keeps an
	// encrypted copy. It returns where.
	Archive(ctx context.Context, organizationID, id string) (copy string, err error)
}

// SchnorrReporter is a keystore that says whether its keys make BIP-340 signatures. One
// that says nothing has keys that do.
type SchnorrReporter interface {
	// SignsSchnorr returns false if none of its keys can spend from a taproot address.
	SignsSchnorr() bool
}
