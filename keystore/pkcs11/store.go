//go:build cgo

package pkcs11

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Store is the keys of a token. It is a keystore.Keystore. Use Open to get one.
type Store struct {
	settings   settings
	connection *connection
	pool       *pool
	closing    sync.Once
	closeError error

	scanning chan struct{} // has room for the one goroutine that scans the token or makes keys, over what follows
	lastScan time.Time
	scanTook time.Duration
	idSize   int // bytes of CKA_ID that the token keeps, 0 if it keeps a UUID

	mu            sync.RWMutex // over what follows
	organizations map[string]*organization
	skipped       []error
	readable      []error
}

var (
	_ keystore.Keystore        = (*Store)(nil)
	_ keystore.Readier         = (*Store)(nil)
	_ keystore.Skipper         = (*Store)(nil)
	_ keystore.Generator       = (*Store)(nil)
	_ keystore.Importer        = (*Store)(nil)
	_ keystore.Renamer         = (*Store)(nil)
	_ keystore.Deleter         = (*Store)(nil)
	_ keystore.SchnorrReporter = (*Store)(nil)
)

// organization is the wall: locators of one organization lead nowhere in
// another.
type organization struct {
	keys []*key // oldest first
	at   map[keystore.Locator]*key
}

// Open opens the module that the URI names, finds the token, logs in and reads
// which keys there are.
func Open(ctx context.Context, uri string, options Options) (*Store, error) {
	settings, err := settle(uri, options)
	if err != nil {
		return nil, err
	}
	with, err := readCredentials(settings.uri, options)
	if err != nil {
		return nil, err
	}
	connection, err := connect(ctx, settings.uri, with)
	if err != nil {
		return nil, err
	}
	store := &Store{
		settings: settings, connection: connection, pool: newPool(connection, settings.sessions),
		scanning: make(chan struct{}, 1),
	}
	if settings.onDemand {
		err = store.Ready(ctx)
	} else {
		err = store.rescan(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// readyTimeout is how long Ready waits for a token that does not answer.
const readyTimeout = 2 * time.Second

// Ready implements keystore.Readier: the token answers, and the login lasts or is
// made anew. A token whose sessions all hang is not ready.
func (s *Store) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err := s.pool.do(ctx, func(held session, _ bool) error { return s.connection.present(held.handle) })
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: the token does not answer", keystore.ErrUnavailable)
	case err != nil && !isFinal(err):
		return explain("asking whether the token is there", err)
	}
	return err
}

// refresh looks at the token again, unless that was done just now, and reports
// whether it did. A look that takes long is not repeated soon: requests for unknown
// keys must not keep the token busy.
func (s *Store) refresh(ctx context.Context) (bool, error) {
	if err := s.startScanning(ctx); err != nil {
		return false, err
	}
	defer s.stopScanning()
	if time.Since(s.lastScan) < max(RescanInterval, 10*s.scanTook) {
		return false, nil
	}
	return true, s.rescan(ctx)
}

// startScanning waits until no other goroutine scans, which may hang in the token.
func (s *Store) startScanning(ctx context.Context) error {
	select {
	case s.scanning <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) stopScanning() { <-s.scanning }

// rescan reads the keys of the token. s.scanning is held, unless no other goroutine
// has the store yet.
func (s *Store) rescan(ctx context.Context) error {
	start := time.Now()
	found, err := s.read(ctx)
	if err != nil {
		return err
	}
	s.lastScan, s.scanTook = time.Now(), time.Since(start)
	index := map[string]*organization{}
	slices.SortFunc(found.keys, compare)
	for _, k := range found.keys {
		insert(index, k)
	}
	s.logNew("key skipped", s.Skipped(), found.skipped)
	s.logNew("key can be taken out of the token", s.Extractable(), found.readable)
	s.mu.Lock() // held no longer than it takes to exchange the index
	defer s.mu.Unlock()
	s.organizations, s.skipped, s.readable = index, found.skipped, found.readable
	return nil
}

// logNew logs what was not so at the last look.
func (s *Store) logNew(message string, before, now []error) {
	known := map[string]bool{}
	for _, why := range before {
		known[why.Error()] = true
	}
	for _, why := range now {
		if !known[why.Error()] {
			s.settings.logger.Warn(message, "error", why)
		}
	}
}

// compare orders keys as a listing does: by the time they were made, then by id.
func compare(a, b *key) int {
	return cmp.Or(createdAt(a.id).Compare(createdAt(b.id)), cmp.Compare(a.id, b.id))
}

// insert puts a key behind the others of its organization. Of keys at one address,
// the older one serves.
func insert(index map[string]*organization, k *key) {
	org := index[k.organization]
	if org == nil {
		org = &organization{at: map[keystore.Locator]*key{}}
		index[k.organization] = org
	}
	org.keys = append(org.keys, k)
	for _, at := range k.locators {
		if _, taken := org.at[at]; !taken {
			org.at[at] = k
		}
	}
}

// takeIn adds keys that were read by themselves. Those that are known stay what they
// are. s.scanning is held.
func (s *Store) takeIn(found inventory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.organizations == nil {
		s.organizations = map[string]*organization{}
	}
	for _, k := range found.keys {
		if org := s.organizations[k.organization]; org == nil || org.at[keystore.ByID(k.id)] == nil {
			insert(s.organizations, k)
		}
	}
	s.skipped = append(s.skipped, found.skipped...)
	s.readable = append(s.readable, found.readable...)
}

func locators(public keystore.PublicKey, id string) []keystore.Locator {
	all := append(keystore.Locators(public), keystore.ByID(id))
	if at, err := keystore.TaprootLocator(public); err == nil {
		all = append(all, at)
	}
	return all
}

// Find implements keystore.Keystore. A key that is not known is looked for on
// the token, at most once in RescanInterval. The first time that a key is
// found, it proves by a signature that its public key is its own.
func (s *Store) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	k := s.lookUp(organizationID, at)
	if k == nil {
		var err error
		if k, err = s.seek(ctx, organizationID, at); err != nil {
			return nil, err
		}
	}
	if k == nil {
		return nil, keystore.ErrKeyNotFound
	}
	if err := k.prove(ctx); err != nil {
		return nil, err
	}
	return k.found(), nil
}

func (s *Store) usable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.pool.isClosed() {
		return keystore.ErrClosed
	}
	return nil
}

// seek looks for a key on the token: for one with a UUID alone if the keys were not
// read yet, else among all of them.
func (s *Store) seek(ctx context.Context, organizationID string, at keystore.Locator) (*key, error) {
	if id, isUUID := at.UUID(); isUUID && s.settings.onDemand {
		if err := s.readOne(ctx, id[:]); err != nil {
			return nil, err
		}
		if k := s.lookUp(organizationID, at); k != nil {
			return k, nil
		}
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return s.lookUp(organizationID, at), nil
}

// readOne reads the keys that have a CKA_ID.
func (s *Store) readOne(ctx context.Context, ckaID []byte) error {
	if err := s.startScanning(ctx); err != nil {
		return err
	}
	defer s.stopScanning()
	return s.readID(ctx, ckaID)
}

func (s *Store) lookUp(organizationID string, at keystore.Locator) *key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if org := s.organizations[organizationID]; org != nil {
		return org.at[at]
	}
	return nil
}

// Keys implements keystore.Keystore. Keys made by this package are listed with
// the time they were made, which their ids tell; others come first, by id. A key
// whose public key turns out not to be its own is not listed, but among those
// that Skipped returns.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		keys, err := s.list(ctx, organizationID)
		if err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		for _, k := range keys {
			err := cmp.Or(ctx.Err(), k.prove(ctx))
			switch {
			case errors.Is(err, keystore.ErrSignatureCheck):
				s.skip(err)
			case err != nil:
				yield(keystore.KeyInfo{}, err)
				return
			case !yield(k.Info(), nil):
				return
			}
		}
	}
}

func (s *Store) list(ctx context.Context, organizationID string) ([]*key, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if org := s.organizations[organizationID]; org != nil {
		return slices.SortedFunc(slices.Values(org.keys), compare), nil
	}
	return nil, nil
}

func (s *Store) skip(why error) {
	s.settings.logger.Warn("key skipped", "error", why)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped = append(s.skipped, why)
}

// Skipped implements keystore.Skipper: it returns why keys on the token are not
// used, as far as the last look at it found out.
func (s *Store) Skipped() []error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.skipped)
}

// Extractable returns which keys that are used can be taken out of the token. Those
// made by this package cannot.
func (s *Store) Extractable() []error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.readable)
}

// SignsSchnorr implements keystore.SchnorrReporter: PKCS#11 has no BIP-340.
func (*Store) SignsSchnorr() bool { return false }

// Close implements keystore.Keystore: it waits for operations that the token
// has begun, closes the sessions, logs out and finalizes the module if nothing
// else in the process uses it. If the token does not answer within five seconds,
// Close returns an error, and the rest is done when it answers.
func (s *Store) Close() error {
	s.closing.Do(func() {
		closed := make(chan error, 1)
		if s.pool.close(s.settings.closeTimeout, func() { closed <- s.connection.close() }) {
			s.closeError = <-closed
			return
		}
		s.closeError = fmt.Errorf("%w: the token has not answered for %v: its sessions stay open until it does", keystore.ErrUnavailable, s.settings.closeTimeout)
	})
	return s.closeError
}
