// Package memory keeps keys in memory: for tests, and for embedders that provide their own secrets.
//
//	keys := memory.New()
//	defer keys.Close()
//	info, err := keys.Add(ctx, "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
//
// Secrets are copied, and overwritten by Close. A key is found in constant time by its id and by
// every address, regardless of the number of keys. The first look-up by a taproot address computes
// those of all keys of the organization, about 60 µs each.
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

// Store is a keystore.Keystore in memory. New returns one.
type Store struct {
	index software.Index
}

var (
	_ keystore.Keystore  = (*Store)(nil)
	_ keystore.Generator = (*Store)(nil)
	_ keystore.Importer  = (*Store)(nil)
	_ keystore.Exporter  = (*Store)(nil)
	_ keystore.Renamer   = (*Store)(nil)
	_ keystore.Deleter   = (*Store)(nil)
)

// New returns an empty store.
func New() *Store { return &Store{} }

// Add adds a key to an organization. If the organization has a key with this id or this secret, it
// returns keystore.ErrKeyExists together with the existing key.
func (s *Store) Add(ctx context.Context, organizationID string, key keystore.NewKey) (keystore.KeyInfo, error) {
	if err := ctx.Err(); err != nil {
		return keystore.KeyInfo{}, err
	}
	added, err := newKey(key)
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("add key: %w", err)
	}
	existing, err := s.index.Insert(organizationID, added)
	if err != nil {
		added.Destroy()
		return existing, err
	}
	return added.Info(), nil
}

func (s *Store) AddBatch(ctx context.Context, organizationID string, keys []keystore.NewKey) (infos []keystore.KeyInfo, errs []error) {
	for _, key := range keys {
		info, err := s.Add(ctx, organizationID, key)
		infos, errs = append(infos, info), append(errs, err)
	}
	return infos, errs
}

func newKey(key keystore.NewKey) (*software.Key, error) {
	if err := keystore.CheckName("name", key.Name); err != nil {
		return nil, err
	}
	if key.ID == "" {
		key.ID = uuid.Must(uuid.NewV7()).String()
	}
	if key.CreatedAt.IsZero() {
		key.CreatedAt = time.Now()
	}
	info := keystore.KeyInfo{ID: key.ID, Name: key.Name, PublicKey: key.PublicKey, CreatedAt: key.CreatedAt, ActsFor: key.ActsFor}
	return software.New(info, key.Curve, key.Secret)
}

func (s *Store) Generate(ctx context.Context, organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	key := software.Generate(name, curve)
	defer keystore.Wipe(key.Secret)
	return s.Add(ctx, organizationID, key)
}

func (s *Store) RevealSecret(ctx context.Context, organizationID, id string, use func(secret []byte) error) error {
	key, err := s.index.Key(ctx, organizationID, keystore.ByID(id))
	if err != nil {
		return err
	}
	return key.RevealSecret(use)
}

func (s *Store) Rename(ctx context.Context, organizationID, id, name string) error {
	if err := keystore.CheckName("name", name); err != nil {
		return err
	}
	key, err := s.index.Key(ctx, organizationID, keystore.ByID(id))
	if err != nil {
		return err
	}
	key.Rename(name)
	return nil
}

// Delete implements keystore.Deleter: it overwrites the secret, and existing handles return
// keystore.ErrWithdrawn.
func (s *Store) Delete(ctx context.Context, organizationID, id string) error {
	if _, err := s.index.Key(ctx, organizationID, keystore.ByID(id)); err != nil {
		return err
	}
	s.index.Remove(organizationID, id)
	return nil
}

func (s *Store) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	return s.index.Find(ctx, organizationID, locator)
}

func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return s.index.Keys(ctx, organizationID)
}

func (s *Store) Close() error { return s.index.Close() }
