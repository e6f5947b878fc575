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

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Store is the keys of a token. It is a keystore.Keystore. Use Open to get one.
type Store struct {
	settings   settings
	connection *connection
	pool       *pool
	closeError error

	scanning chan struct{} // has room for the one who scans the token or makes keys, over lastScan
	lastScan time.Time

	mu            sync.RWMutex // over what follows
	organizations map[string]*organization
	leftOut       []error
}

var _ keystore.Keystore = (*Store)(nil)

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
	pin, err := readPIN(settings.uri, options)
	if err != nil {
		return nil, err
	}
	connection, err := connect(settings.uri, pin)
	if err != nil {
		return nil, err
	}
	store := &Store{
		settings: settings, connection: connection, pool: newPool(connection, settings.sessions),
		scanning: make(chan struct{}, 1),
	}
	if err := store.rescan(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// refresh looks at the token again, unless that was done just now, and reports
// whether it did.
func (s *Store) refresh(ctx context.Context) (bool, error) {
	if err := s.startScanning(ctx); err != nil {
		return false, err
	}
	defer s.stopScanning()
	if time.Since(s.lastScan) < RescanInterval {
		return false, nil
	}
	return true, s.rescan(ctx)
}

// startScanning waits until nobody else scans, who may hang in the token.
func (s *Store) startScanning(ctx context.Context) error {
	select {
	case s.scanning <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) stopScanning() { <-s.scanning }

// rescan reads the keys of the token. s.scanning is held, unless nobody else has
// the store yet.
func (s *Store) rescan(ctx context.Context) error {
	found, err := s.read(ctx)
	if err != nil {
		return err
	}
	s.lastScan = time.Now()
	s.index(found)
	return nil
}

// read scans the token, in a session of the pool.
func (s *Store) read(ctx context.Context, only ...*pkcs11.Attribute) (inventory, error) {
	result := make(chan inventory, 1)
	err := s.pool.do(ctx, func(held session, _ bool) error {
		found, err := s.scan(held.handle, only...)
		if err == nil {
			result <- found
		}
		return err
	})
	if err != nil {
		if isFinal(err) {
			return inventory{}, err
		}
		return inventory{}, explain("reading the keys of the token", err)
	}
	return <-result, nil
}

// index replaces what is known of the token. Keys that were known stay what
// they are, so that they need not prove themselves again.
func (s *Store) index(found inventory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.organizations
	s.organizations = map[string]*organization{}
	s.leftOut = found.leftOut
	slices.SortFunc(found.keys, func(a, b *key) int {
		return cmp.Or(createdAt(a.id).Compare(createdAt(b.id)), cmp.Compare(a.id, b.id))
	})
	for _, k := range found.keys {
		if known := old[k.organization]; known != nil {
			if same := known.at[keystore.ByID(k.id)]; same != nil && same.label == k.label && same.public == k.public {
				same.handle.Store(k.handle.Load())
				k = same
			}
		}
		s.insert(k)
	}
}

// insert puts a key behind the others of its organization, unless one of them
// has its id. s.mu is held.
func (s *Store) insert(k *key) {
	org := s.organizations[k.organization]
	if org == nil {
		org = &organization{at: map[keystore.Locator]*key{}}
		s.organizations[k.organization] = org
	}
	if other := org.at[keystore.ByID(k.id)]; other != nil {
		s.leftOut = append(s.leftOut, leftOut(k.label, k.ckaID, fmt.Errorf("key %q of its organization has the same CKA_ID", other.label)))
		return
	}
	org.keys = append(org.keys, k)
	for _, at := range k.locators() {
		if _, taken := org.at[at]; !taken { // the older key serves
			org.at[at] = k
		}
	}
}

func (k *key) locators() []keystore.Locator {
	all := append(keystore.Locators(k.public), keystore.ByID(k.id))
	if at, err := keystore.TaprootLocator(k.public); err == nil {
		all = append(all, at)
	}
	return all
}

// Find implements keystore.Keystore. A key that is not known is looked for on
// the token, at most once in RescanInterval. The first time that a key is
// found, it proves by a signature that its public key is its own.
func (s *Store) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.pool.isClosed() {
		return nil, keystore.ErrClosed
	}
	k := s.lookUp(organizationID, at)
	if k == nil {
		scanned, err := s.refresh(ctx)
		if err != nil {
			return nil, err
		}
		if scanned {
			k = s.lookUp(organizationID, at)
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
// that LeftOut returns.
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
				s.leaveOut(err)
			case err != nil:
				yield(keystore.KeyInfo{}, err)
				return
			case !yield(k.info(), nil):
				return
			}
		}
	}
}

func (s *Store) list(ctx context.Context, organizationID string) ([]*key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.pool.isClosed() {
		return nil, keystore.ErrClosed
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if org := s.organizations[organizationID]; org != nil {
		return slices.Clone(org.keys), nil
	}
	return nil, nil
}

func (s *Store) leaveOut(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leftOut = append(s.leftOut, why)
}

// LeftOut returns why keys on the token are not used, as far as that was seen
// by the last look at it.
func (s *Store) LeftOut() []error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.leftOut)
}

// Close implements keystore.Keystore: it waits for operations that the token
// has begun, closes the sessions, logs out and finalises the module if nobody
// else in the process uses it.
func (s *Store) Close() error {
	s.pool.close(func() { s.closeError = s.connection.close() })
	return s.closeError
}
