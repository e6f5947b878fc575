package file

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Defaults of Options.
const (
	// DefaultWorkFactor is the scrypt work factor (log2 of N, with r = 8 and
	// p = 1) of new keystores, the same as the age command's: about a second and 256 MiB.
	DefaultWorkFactor = 18

	// DefaultMaxWorkFactor bounds the work that a hostile identity.age can cause:
	// about four seconds and 1 GiB.
	DefaultMaxWorkFactor = 20

	// DefaultLockWait is how long a writer waits for one that makes no progress.
	DefaultLockWait = time.Second
)

// Options configures Create, Open and Copy. The zero value has the defaults.
type Options struct {
	// WorkFactor is the scrypt work factor of identity.age on Create and
	// ChangePassphrase, 1 to 30. 0 means DefaultWorkFactor. Use lower values in tests only.
	WorkFactor int

	// MaxWorkFactor is the largest work factor that Open accepts, up to 30.
	// 0 means DefaultMaxWorkFactor.
	MaxWorkFactor int

	// Recovery lists, for Create, at most 16 age recipients that can also decrypt the key
	// files: either X25519 ("age1…") or post-quantum ones ("age1pq1…"), but not both.
	Recovery []string

	// PostQuantum makes Create give the keystore a post-quantum identity (ML-KEM-768 with
	// X25519): an attacker who copies the directory today, without the passphrase, cannot
	// decrypt it with a quantum computer later. Post-quantum recovery recipients imply it.
	// Each key file grows by about 1.5 KB per recipient.
	PostQuantum bool

	// SkipInvalid lets Open continue without the key files that are bad. They are
	// logged, and returned by Skipped.
	SkipInvalid bool

	// LockWait is how long a writer waits for another process or Store that holds the
	// lock without making progress. Writers that make progress are waited for without
	// limit. 0 means DefaultLockWait.
	LockWait time.Duration

	// Judge, if set, is asked before keys of an organization with names are added, restored,
	// renamed, disabled, enabled or deleted, with the enabled keys before and after that. Its
	// error refuses the change. The lock is held: Judge must not call the Store.
	Judge func(organizationID string, before, after []keystore.KeyInfo) error

	// OnDisabled, if set, is called on each look-up of a disabled key. Otherwise the
	// look-up is logged.
	OnDisabled func(keystore.KeyInfo)

	// OnRead, if set, reports progress while at least 256 key files are read: after every
	// 256 files, and after the last, with the number of files read so far and in all.
	// Calls come one at a time, in increasing order; reading waits for them.
	OnRead func(read, total int)

	// Logger receives bad files that are skipped and look-ups of disabled keys. nil discards them.
	Logger *slog.Logger
}

func (o Options) check() error {
	for _, factor := range []int{o.WorkFactor, o.MaxWorkFactor} {
		if factor < 1 || factor > 30 {
			return fmt.Errorf("scrypt work factor %d is not between 1 and 30", factor)
		}
	}
	return nil
}
