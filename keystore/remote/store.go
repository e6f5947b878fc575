package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/held"
)

// Defaults of Options, and limits that are fixed.
const (
	// DefaultConcurrency is how many calls of one service, or of one site of a Sited one, are under
	// way at a time.
	DefaultConcurrency = 256

	// DefaultTimeout is how long a call may take, retries included.
	DefaultTimeout = 10 * time.Second

	// RecheckInterval is how often a key in use is checked against its pin.
	RecheckInterval = 10 * time.Minute

	// closeTimeout is how long Close waits for calls before it cancels them.
	closeTimeout = 5 * time.Second
)

// Options of a Store. The zero value is the usual one.
type Options struct {
	Concurrency int           // DefaultConcurrency if 0
	Timeout     time.Duration // DefaultTimeout if 0

	// Lazy makes Open ask no service. A key is checked when it is first found, and no Keeper
	// is run. It is for short-lived programs that use one key of many.
	Lazy bool

	// Follow returns the pins if they have changed since its last call. It is called before
	// each look-up and must be fast if nothing has changed. If nil, the pins never change.
	Follow func() (pins []Pin, changed bool, err error)

	// OnDisabled is called with a disabled key that was looked for. nil for nothing.
	OnDisabled func(keystore.KeyInfo)

	Observe func(Observation) // called after each call to a service, if not nil
	Logger  *slog.Logger      // receives keys that are refused; nil discards them
	Now     func() time.Time  // time.Now if nil
}

// Store is a keystore.Keystore of pinned keys. Open returns one.
type Store struct {
	services Services
	options  Options
	base     context.Context // cancelled when Close has waited for calls, or long enough
	cancel   context.CancelFunc

	mu     sync.RWMutex // guards the following fields
	closed bool
	calls  sync.WaitGroup // calls in progress
	kept   sync.WaitGroup // calls of Keep
	table  *table
	tended map[string]bool        // schemes whose Keep was called
	slots  map[site]chan struct{} // one element for each call under way
}

var (
	_ keystore.Keystore        = (*Store)(nil)
	_ keystore.Readier         = (*Store)(nil)
	_ keystore.Skipper         = (*Store)(nil)
	_ keystore.SchnorrReporter = (*Store)(nil)
)

// Open returns a store of the pinned keys, and checks them, unless Options.Lazy is set. A key
// that fails the check does not make Open fail: Skipped has those whose service has another
// key, and those of a service that is away are checked again when they are used.
func Open(ctx context.Context, services Services, pins []Pin, options Options) (*Store, error) {
	options.Concurrency = cmp.Or(options.Concurrency, DefaultConcurrency)
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Observe == nil {
		options.Observe = func(Observation) {}
	}
	if options.OnDisabled == nil {
		options.OnDisabled = func(keystore.KeyInfo) {}
	}
	store := &Store{services: services, options: options, tended: map[string]bool{}, slots: map[site]chan struct{}{}}
	store.base, store.cancel = context.WithCancel(context.Background())
	if err := store.replace(pins); err != nil {
		return nil, err
	}
	if !options.Lazy {
		store.checkAll(ctx)
	}
	return store, nil
}

// replace takes on pins. Keys whose pin has not changed keep what is known of them.
func (s *Store) replace(pins []Pin) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := newTable(s, pins, s.table)
	if err != nil {
		return err
	}
	s.table = next
	for _, k := range next.keys {
		if s.slots[k.site] == nil {
			s.slots[k.site] = make(chan struct{}, s.options.Concurrency)
		}
		if !s.tended[k.site.scheme] && !s.options.Lazy && !s.closed {
			s.tended[k.site.scheme] = true
			keep(s.base, &s.kept, k.service)
		}
	}
	return nil
}

// current returns the table after it followed changes of the pins. Pins that cannot be read or
// taken on change nothing: they are logged.
func (s *Store) current(ctx context.Context) (*table, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.options.Follow != nil {
		pins, changed, err := s.options.Follow()
		if changed && err == nil {
			err = s.replace(pins)
		}
		if err != nil {
			s.options.Logger.Error("changed keys are not used", "cause", err)
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, keystore.ErrClosed
	}
	return s.table, nil
}

// Find implements keystore.Keystore. A key that was not checked lately is checked first.
func (s *Store) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	table, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	k := table.at[organizationID][locator]
	switch {
	case k == nil:
		return nil, keystore.ErrKeyNotFound
	case k.pin.Disabled:
		s.options.OnDisabled(k.Info())
		return nil, keystore.ErrKeyNotFound
	}
	known := k.known.Load()
	if known.moved == nil && s.options.Now().Sub(known.checkedAt) < RecheckInterval {
		return held.Of(k), nil
	}
	// A service that does not answer is trusted on its earlier answer: every signature is verified.
	err = k.check(ctx)
	if err != nil && (ctx.Err() != nil || known.moved != nil || known.checkedAt.IsZero() || !errors.Is(err, keystore.ErrUnavailable)) {
		return nil, err
	}
	return held.Of(k), nil
}

// Keys implements keystore.Keystore: it lists the pinned keys in the order of the pins, without
// those that are disabled or known to be another one. It asks no service.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		table, err := s.current(ctx)
		if err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		for _, k := range table.keys {
			if k.pin.OrganizationID != organizationID || k.pin.Disabled || k.moved() != nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				yield(keystore.KeyInfo{}, err)
				return
			}
			if !yield(k.Info(), nil) {
				return
			}
		}
	}
}

// Pins returns the pins, disabled ones included, with their ids.
func (s *Store) Pins(ctx context.Context) ([]Pin, error) {
	table, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	var pins []Pin
	for _, k := range table.keys {
		pins = append(pins, k.pin)
	}
	return pins, nil
}

// SignsSchnorr implements keystore.SchnorrReporter: no service has BIP-340.
func (*Store) SignsSchnorr() bool { return false }

// Skipped implements keystore.Skipper: the keys whose service has another key than the pinned one.
func (s *Store) Skipped() (why []error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, k := range s.table.keys {
		if err := k.moved(); err != nil {
			why = append(why, err)
		}
	}
	return why
}

// checkAll checks all keys that are not disabled, and logs what is wrong.
func (s *Store) checkAll(ctx context.Context) {
	var done sync.WaitGroup
	for _, k := range s.table.keys {
		if k.pin.Disabled {
			continue
		}
		done.Go(func() {
			if err := k.check(ctx); err != nil && k.moved() == nil { // else it was logged
				s.options.Logger.Warn("key could not be checked", "key", k.id, "cause", err)
			}
		})
	}
	done.Wait()
}

// readyFor is how long a key counts as usable after it was used or checked.
const readyFor = 30 * time.Second

// Ready implements keystore.Readier: it returns nil if a key was used or checked lately, or can
// be checked now. A store without keys is ready.
func (s *Store) Ready(ctx context.Context) error {
	table, err := s.current(ctx)
	if err != nil {
		return err
	}
	keys := slices.DeleteFunc(slices.Clone(table.keys), func(k *key) bool { return k.pin.Disabled })
	if len(keys) == 0 || slices.ContainsFunc(keys, (*key).recentlyUsable) {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error, len(keys))
	for _, k := range keys {
		go func() { results <- k.check(ctx) }()
	}
	var all []error
	for range keys {
		err := <-results
		if err == nil {
			return nil
		}
		all = append(all, err)
	}
	return fmt.Errorf("%w: no key in a key service can be used: %w", keystore.ErrUnavailable, errors.Join(all...))
}

// Close implements keystore.Keystore. It waits for calls in progress, and cancels them after
// five seconds. Then it ends what was run in the background.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	defer time.AfterFunc(closeTimeout, s.cancel).Stop()
	s.calls.Wait()
	s.cancel()
	s.kept.Wait()
	return nil
}
