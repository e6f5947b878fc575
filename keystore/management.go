package keystore

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// The following capabilities of a keystore are found by type assertion, like those of a key.

// Readier is a keystore that depends on something that can fail independently, such as an HSM.
type Readier interface {
	// Ready returns nil if a key could sign now, and otherwise an error that wraps
	// ErrUnavailable. It must return within seconds even if the keystore hangs.
	Ready(ctx context.Context) error
}

// Refresher is a keystore that keeps keys in memory which other processes may delete, disable
// or add. Every look-up takes that in; between look-ups, Refresh does.
type Refresher interface {
	// Refresh takes in what other processes have changed. The secrets of keys that were
	// deleted or disabled are no longer in memory when it returns without error.
	Refresh(ctx context.Context) error
}

// RefreshInterval is how often a server should call Refresh, so that a secret outlives its
// key by less than a minute however few requests come.
const RefreshInterval = 30 * time.Second

// Skipper is a keystore that works without the keys that it cannot use or trust.
type Skipper interface {
	// Skipped returns one error, with the reason, for each key that is not used.
	Skipped() []error
}

// Generator is a keystore that generates keys.
type Generator interface {
	// Generate generates a key in an organization. When it returns without error, the key
	// is stored safely: on disk, or in the HSM.
	Generate(ctx context.Context, organizationID, name string, curve Curve) (KeyInfo, error)
}

// CheckName refuses the name of a key or wallet, or the id of an organization, that cannot be
// shown as it is: one that is not UTF-8, or has characters that are invisible, control a
// terminal or change the direction of text. field names it in the error.
func CheckName(field, name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("%s is not valid UTF-8", field)
	}
	for i, r := range name {
		if !plaintext.Visible(r) {
			return fmt.Errorf("%s has the invisible or control character %U at byte %d", field, r, i)
		}
	}
	return nil
}

// NewKey is a key to be added to a keystore.
type NewKey struct {
	ID        string      // a UUID; generated if empty
	Name      string      // see CheckName
	Curve     Curve       // of the secret
	Secret    SecretBytes // SecretSize bytes; copied, the caller still owns them
	PublicKey PublicKey   // if not zero, the secret must belong to it
	CreatedAt time.Time   // now if zero; stored to the second, by backends that store it
	ActsFor   string      // KeyInfo.ActsFor; refused by backends that cannot store it
}

// Importer is a keystore that imports secrets.
type Importer interface {
	// AddBatch adds keys to an organization. Both slices have one element for each key, in
	// order: the key is stored safely if errs[i] is nil. If the organization has the id or
	// the secret already, errs[i] is ErrKeyExists and infos[i] the existing key.
	AddBatch(ctx context.Context, organizationID string, keys []NewKey) (infos []KeyInfo, errs []error)
}

// Exporter is a keystore that reveals secrets.
type Exporter interface {
	// RevealSecret calls use with the SecretSize bytes of a key's secret, which use must not
	// keep.
	RevealSecret(ctx context.Context, organizationID, id string, use func(secret []byte) error) error
}

// Renamer is a keystore whose keys can be renamed.
type Renamer interface {
	// Rename changes the name of a key. The id stays the same.
	Rename(ctx context.Context, organizationID, id, name string) error
}

// Deleter is a keystore whose keys can be deleted.
type Deleter interface {
	// Delete deletes a key permanently: only an earlier copy can bring it back.
	Delete(ctx context.Context, organizationID, id string) error
}

// Disabler is a keystore whose keys can be disabled and enabled again.
type Disabler interface {
	// Disable disables a key without deleting its secret. After it returns, no process that
	// has the keystore open finds the key; only requests that have found it before may still
	// be signed. Disabling a disabled key does nothing.
	Disable(ctx context.Context, organizationID, id string) error

	// Enable undoes Disable.
	Enable(ctx context.Context, organizationID, id string) error

	// Disabled lists the disabled keys, oldest first. Keys does not list them.
	Disabled(ctx context.Context, organizationID string) ([]KeyInfo, error)
}

// Delegator is a keystore whose keys can be set to sign for another account.
type Delegator interface {
	// ActFor sets KeyInfo.ActsFor of a key. With an empty account, the key signs for its own
	// account again.
	ActFor(ctx context.Context, organizationID, id, account string) error
}

// Archiver is a keystore whose keys can be deleted in a way that can be undone.
type Archiver interface {
	// Archive removes a key, or a wallet with all its keys, and keeps an encrypted copy, of
	// which it returns the path.
	Archive(ctx context.Context, organizationID, id string) (path string, err error)
}

// SchnorrReporter is a keystore that reports whether its keys make BIP-340 signatures. Without
// it, they are assumed to do so.
type SchnorrReporter interface {
	// SignsSchnorr returns false if none of the keys can spend from a taproot address.
	SignsSchnorr() bool
}
