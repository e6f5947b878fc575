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
	"github.com/countersign-dev/countersign/keystore/internal/held"
)

// Store is a keystore.Keystore of the keys on a token. Open returns one.
type Store struct {
	settings   settings
	connection *connection
	pool       *pool

	// scanning is held while scanning the token and while changing its keys. It guards the
	// next four fields.
	scanning contextMutex
	now      func() time.Time
	lastScan time.Time
	scanTook time.Duration
	idSize   int // bytes of CKA_ID that the token stores, 0 if it stores a UUID

	mu            sync.RWMutex // guards the following fields
	organizations map[string]*organization
	skipped       []error
	extractable   []error
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

// organization has the keys of one organization, which no other one can find.
type organization struct {
	keys []*key // oldest first
	at   map[keystore.Locator]*key
}

// Open opens the module named by the URI, finds the token, logs in and reads the keys.
func Open(ctx context.Context, uri string, options Options) (*Store, error) {
	settings, err := settle(uri, options)
	if err != nil {
		return nil, err
	}
	pool, err := openPool(ctx, settings, options)
	if err != nil {
		return nil, err
	}
	store := &Store{settings: settings, connection: pool.connection, pool: pool, scanning: newContextMutex(),
		now: time.Now}
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

// Ready implements keystore.Readier. It checks that the token answers and that the login is
// valid, logging in again if necessary. A token whose sessions all hang is not ready.
func (s *Store) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err := s.pool.do(ctx, func(lent session, _ bool) error { return s.connection.present(lent.handle) })
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: the token does not answer", keystore.ErrUnavailable)
	}
	return explain("checking the token", err)
}

// refresh scans the token again unless a scan was done recently. The interval grows with
// the duration of a scan, so that requests for unknown keys cannot keep the token busy.
func (s *Store) refresh(ctx context.Context) error {
	if err := s.scanning.lock(ctx); err != nil {
		return err
	}
	defer s.scanning.unlock()
	if s.now().Sub(s.lastScan) < max(rescanInterval, 10*s.scanTook) {
		return nil
	}
	return s.rescan(ctx)
}

// rescan reads the keys of the token. The caller holds s.scanning, unless no other goroutine
// has the Store yet.
func (s *Store) rescan(ctx context.Context) error {
	start := s.now()
	scanned, err := s.read(ctx)
	if err != nil {
		return err
	}
	s.lastScan = s.now()
	s.scanTook = s.lastScan.Sub(start)
	index := map[string]*organization{}
	slices.SortFunc(scanned.keys, compare)
	for _, k := range scanned.keys {
		insert(index, k)
	}
	s.logNew("key skipped", s.Skipped(), scanned.skipped)
	s.logNew("key is extractable from the token", s.Extractable(), scanned.extractable)
	s.mu.Lock() // only to replace the index
	defer s.mu.Unlock()
	s.organizations, s.skipped, s.extractable = index, scanned.skipped, scanned.extractable
	return nil
}

// logNew logs the findings that the last scan did not have.
func (s *Store) logNew(message string, before, now []error) {
	known := map[string]bool{}
	for _, err := range before {
		known[err.Error()] = true
	}
	for _, err := range now {
		if !known[err.Error()] {
			s.settings.logger.Warn(message, "error", err)
		}
	}
}

// compare orders keys as a listing does: by time of creation, then by id.
func compare(a, b *key) int {
	return cmp.Or(createdAt(a.id).Compare(createdAt(b.id)), cmp.Compare(a.id, b.id))
}

// insert appends a key to its organization. Of several keys with one address, the first one
// is found.
func insert(index map[string]*organization, k *key) {
	org := index[k.organization]
	if org == nil {
		org = &organization{at: map[keystore.Locator]*key{}}
		index[k.organization] = org
	}
	org.keys = append(org.keys, k)
	for _, locator := range k.locators {
		if _, taken := org.at[locator]; !taken {
			org.at[locator] = k
		}
	}
}

// takeIn adds keys that were read individually. Known keys are not changed. The caller
// holds s.scanning.
func (s *Store) takeIn(objects inventory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.organizations == nil {
		s.organizations = map[string]*organization{}
	}
	for _, k := range objects.keys {
		if org := s.organizations[k.organization]; org == nil || org.at[keystore.ByID(k.id)] == nil {
			insert(s.organizations, k)
		}
	}
	s.skipped = append(s.skipped, objects.skipped...)
	s.extractable = append(s.extractable, objects.extractable...)
}

// Find implements keystore.Keystore. It searches the token for an unknown key at most once per
// second. A key that is found for the first time must prove its public key by a signature.
func (s *Store) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	k, err := s.search(ctx, organizationID, locator)
	if err != nil {
		return nil, err
	}
	if err := k.prove(ctx); err != nil {
		return nil, err
	}
	return held.Of(k), nil
}

// search returns the key at a locator, from the index or else from the token.
func (s *Store) search(ctx context.Context, organizationID string, locator keystore.Locator) (*key, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if k := s.lookUp(organizationID, locator); k != nil {
		return k, nil
	}
	if id, isUUID := locator.UUID(); isUUID && s.settings.onDemand {
		if err := s.readOne(ctx, id[:]); err != nil {
			return nil, err
		}
		if k := s.lookUp(organizationID, locator); k != nil {
			return k, nil
		}
	}
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	if k := s.lookUp(organizationID, locator); k != nil {
		return k, nil
	}
	return nil, keystore.ErrKeyNotFound
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

func (s *Store) readOne(ctx context.Context, ckaID []byte) error {
	if err := s.scanning.lock(ctx); err != nil {
		return err
	}
	defer s.scanning.unlock()
	return s.readID(ctx, ckaID)
}

func (s *Store) lookUp(organizationID string, locator keystore.Locator) *key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if org := s.organizations[organizationID]; org != nil {
		return org.at[locator]
	}
	return nil
}

// Keys implements keystore.Keystore. Keys generated by this package are listed with their
// time of creation, which is part of their id; other keys come first, by id. A key that
// fails to prove its public key is not listed but added to Skipped.
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
				s.settings.logger.Warn("key skipped", "error", err)
				s.mu.Lock()
				s.skipped = append(s.skipped, err)
				s.mu.Unlock()
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
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if org := s.organizations[organizationID]; org != nil {
		return slices.SortedFunc(slices.Values(org.keys), compare), nil
	}
	return nil, nil
}

// Skipped implements keystore.Skipper, with the result of the last scan.
func (s *Store) Skipped() []error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.skipped)
}

// Extractable returns one error for each key in use whose secret can be extracted from the
// token. Keys created by this package cannot be extracted.
func (s *Store) Extractable() []error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.extractable)
}

// SignsSchnorr implements keystore.SchnorrReporter: PKCS#11 has no BIP-340.
func (*Store) SignsSchnorr() bool { return false }

// Close implements keystore.Keystore. It waits for operations in progress, closes the
// sessions, logs out, and finalizes the module if nothing else in the process uses it. If
// the token does not answer within five seconds, Close returns an error, and the cleanup
// is completed when the token answers.
func (s *Store) Close() error { return s.pool.close(s.settings.closeTimeout) }
