// Package memory keeps keys in memory: for tests, and for embedders who bring
// their own secrets.
//
//	keys := memory.New()
//	defer keys.Close()
//	info, err := keys.Add("org", memory.Key{Curve: keystore.CurveSecp256k1, Secret: secret})
//
// Secrets are copied in, and overwritten by Close. A key is found in constant
// time by its id and by every address it has; looking keys up does not depend
// on how many there are. The first look-up by a taproot address computes those
// of all keys of the organization, some 60 µs each.
package memory

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Store is a keystore.Keystore. Use New to make one.
type Store struct {
	index software.Index
}

var _ keystore.Keystore = (*Store)(nil)

// Key is what Add takes.
type Key struct {
	ID        string               // a new UUID if empty
	Name      string               // free text
	Curve     keystore.Curve       // what the secret is for
	Secret    keystore.SecretBytes // keystore.SecretSize bytes; copied, the caller still owns them
	PublicKey keystore.PublicKey   // if not zero, Add refuses a secret that belongs to another
	CreatedAt time.Time            // now if zero; kept to the second
}

// New makes an empty store.
func New() *Store { return &Store{} }

// Add puts a key into an organization. It returns keystore.ErrKeyExists,
// together with what the store has, if the organization has a key with this id
// or with this secret.
func (s *Store) Add(organizationID string, key Key) (keystore.KeyInfo, error) {
	made, err := key.make()
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("add key: %w", err)
	}
	existing, err := s.index.Insert(organizationID, made)
	if err != nil {
		made.Destroy()
		return existing, err
	}
	return made.Info(), nil
}

func (k Key) make() (*software.Key, error) {
	if k.ID == "" {
		k.ID = uuid.Must(uuid.NewV7()).String()
	}
	if k.CreatedAt.IsZero() {
		k.CreatedAt = time.Now()
	}
	return software.New(keystore.KeyInfo{ID: k.ID, Name: k.Name, PublicKey: k.PublicKey, CreatedAt: k.CreatedAt}, k.Curve, k.Secret)
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

// Find implements keystore.Keystore.
func (s *Store) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	return s.index.Find(ctx, organizationID, at)
}

// Keys implements keystore.Keystore.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return s.index.Keys(ctx, organizationID)
}

// Close implements keystore.Keystore.
func (s *Store) Close() error { return s.index.Close() }
