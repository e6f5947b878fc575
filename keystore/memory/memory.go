// Package memory keeps keys in memory: for tests, and for embedders who bring
// their own secrets.
//
//	keys := memory.New()
//	defer keys.Close()
//	info, err := keys.Add("org", memory.Key{Curve: keystore.CurveSecp256k1, Secret: secret})
//
// Secrets are copied in, and overwritten by Close. A key is found in constant
// time by its id and by every address it has; looking keys up does not depend
// on how many there are.
package memory

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Store is a keystore.Keystore. Use New to make one.
type Store struct {
	mu            sync.RWMutex
	organizations map[string]*organization
	closed        bool
}

var _ keystore.Keystore = (*Store)(nil)

// organization is the wall: locators of one organization lead nowhere in
// another.
type organization struct {
	keys  []software.Key // in the order they were added
	index map[keystore.Locator]software.Key

	// How many of keys are indexed by taproot: that locator is dear and
	// few ask for it, so that it is made up for when somebody does.
	taprootMu sync.Mutex
	taproot   int
}

// Key is what Add takes.
type Key struct {
	ID        string // a new UUID if empty
	Name      string // free text
	Curve     keystore.Curve
	Secret    []byte    // keystore.SecretSize bytes; copied
	CreatedAt time.Time // now if zero
}

// New makes an empty store.
func New() *Store {
	return &Store{organizations: map[string]*organization{}}
}

// Add puts a key into an organization. It returns keystore.ErrKeyExists,
// together with what the store has, if the organization has a key with this id
// or with this secret.
func (s *Store) Add(organizationID string, key Key) (keystore.KeyInfo, error) {
	if key.ID == "" {
		key.ID = uuid.NewString()
	}
	if key.CreatedAt.IsZero() {
		key.CreatedAt = time.Now()
	}
	info := keystore.KeyInfo{ID: key.ID, Name: key.Name, CreatedAt: key.CreatedAt.UTC().Truncate(time.Second)}
	made, err := software.New(info, key.Curve, key.Secret)
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("add key: %w", err)
	}
	existing, err := s.insert(organizationID, made)
	if err != nil {
		made.Destroy()
		return existing, err
	}
	return made.Info(), nil
}

// Generate makes a new key in an organization.
func (s *Store) Generate(organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	secret := make([]byte, keystore.SecretSize)
	defer keystore.Wipe(secret)
	if err := software.Generate(curve, secret); err != nil {
		return keystore.KeyInfo{}, err
	}
	return s.Add(organizationID, Key{Name: name, Curve: curve, Secret: secret})
}

func (s *Store) insert(organizationID string, key software.Key) (existing keystore.KeyInfo, err error) {
	locators := append(keystore.Locators(key.PublicKey()), keystore.ByID(key.ID()))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.KeyInfo{}, keystore.ErrClosed
	}
	org := s.organizations[organizationID]
	if org == nil {
		org = &organization{index: map[keystore.Locator]software.Key{}}
		s.organizations[organizationID] = org
	}
	for _, at := range locators {
		if other, taken := org.index[at]; taken {
			return other.Info(), fmt.Errorf("%w: key %s", keystore.ErrKeyExists, other.ID())
		}
	}
	org.keys = append(org.keys, key)
	for _, at := range locators {
		org.index[at] = key
	}
	return keystore.KeyInfo{}, nil
}

// Find implements keystore.Keystore.
func (s *Store) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if at.Kind() == keystore.LocateByTaproot {
		s.indexTaproot(organizationID)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, keystore.ErrClosed
	}
	if org := s.organizations[organizationID]; org != nil {
		if key := org.index[at]; key != nil {
			return key, nil
		}
	}
	return nil, keystore.ErrKeyNotFound
}

// indexTaproot makes up for the keys added since it was last called. Whoever
// comes while it runs waits for it; those who do not look by taproot go on.
func (s *Store) indexTaproot(organizationID string) {
	s.mu.RLock()
	org := s.organizations[organizationID]
	s.mu.RUnlock()
	if org == nil {
		return
	}
	org.taprootMu.Lock()
	defer org.taprootMu.Unlock()
	keys, _ := s.snapshot(organizationID)
	for ; org.taproot < len(keys); org.taproot++ {
		key := keys[org.taproot]
		at, err := keystore.TaprootLocator(key.PublicKey())
		if err != nil {
			continue // a key of another curve
		}
		s.mu.Lock()
		org.index[at] = key
		s.mu.Unlock()
	}
}

// Keys implements keystore.Keystore.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		keys, err := s.snapshot(organizationID)
		if err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		for _, key := range keys {
			if err := ctx.Err(); err != nil {
				yield(keystore.KeyInfo{}, err)
				return
			}
			if !yield(key.Info(), nil) {
				return
			}
		}
	}
}

// snapshot returns the keys there are now. The slice only ever grows behind
// its end, so that sharing it is safe.
func (s *Store) snapshot(organizationID string) ([]software.Key, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, keystore.ErrClosed
	}
	org := s.organizations[organizationID]
	if org == nil {
		return nil, nil
	}
	return org.keys, nil
}

// Close implements keystore.Keystore.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	for _, org := range s.organizations {
		for _, key := range org.keys {
			key.Destroy()
		}
	}
	s.organizations = nil
	return nil
}
