package file

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Defaults of Options.
const (
	// DefaultWorkFactor is the scrypt work factor (log2 of N, with r = 8 and
	// p = 1) of new keystores, as of the age command: about a second and 256 MiB.
	DefaultWorkFactor = 18

	// DefaultMaxWorkFactor bounds the work that opening can be made to do:
	// about four seconds and 1 GiB.
	DefaultMaxWorkFactor = 20

	// DefaultLockWait is how long a writer waits for one that does not get on.
	DefaultLockWait = time.Second
)

// Options of Create and Open. The zero Options are the defaults.
type Options struct {
	// WorkFactor is the scrypt work factor of identity.age on Create and
	// ChangePassphrase, 1 to 30. 0 is DefaultWorkFactor. Less is for tests.
	WorkFactor int

	// MaxWorkFactor is the largest work factor that Open accepts, up to 30.
	// 0 is DefaultMaxWorkFactor.
	MaxWorkFactor int

	// Recovery names age recipients that can decrypt the key files as well, on Create:
	// X25519 ones ("age1…"), or post-quantum ones ("age1pq1…"), but not of both kinds. At
	// most MaxRecovery.
	Recovery []string

	// PostQuantum makes a keystore, on Create, whose own identity is post-quantum
	// (ML-KEM-768 with X25519): someone who copies the directory today, without the
	// passphrase, cannot decrypt it with a quantum computer later. It is so anyway if the
	// recovery recipients are. Each key file has about 1.5 KB more for each recipient.
	PostQuantum bool

	// SkipInvalid lets Open go on without key files that are bad. They
	// are logged, and returned by Skipped.
	SkipInvalid bool

	// LockWait is how long writing waits for another process or Store that has
	// the lock and does not get on with its writing; those that take turns wait
	// for each other. 0 is DefaultLockWait.
	LockWait time.Duration

	// OnDisabled, if it is set, is called when a disabled key is looked for, in place of
	// logging it.
	OnDisabled func(keystore.KeyInfo)

	// OnRead, if it is set, is called while many key files are read: after every
	// ReadStep files, and after the last, with how many are read and how many there
	// are. Calls come one at a time and count up; reading waits for them.
	OnRead func(read, total int)

	// Logger is told of bad files that are left out, and of look-ups of disabled keys.
	// nil discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.WorkFactor = cmp.Or(o.WorkFactor, DefaultWorkFactor)
	o.MaxWorkFactor = cmp.Or(o.MaxWorkFactor, DefaultMaxWorkFactor)
	o.LockWait = cmp.Or(o.LockWait, DefaultLockWait)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) check() error {
	for _, factor := range []int{o.WorkFactor, o.MaxWorkFactor} {
		if factor < 1 || factor > 30 {
			return fmt.Errorf("scrypt work factor %d: not between 1 and 30", factor)
		}
	}
	return nil
}
