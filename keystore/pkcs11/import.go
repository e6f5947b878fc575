//go:build cgo

package pkcs11

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Add imports a secret into the token, from which it cannot be extracted again. Copies of it
// may still exist elsewhere. If the organization has a key with this id or this secret, Add
// returns keystore.ErrKeyExists together with the existing key.
func (s *Store) Add(ctx context.Context, organizationID string, k keystore.NewKey) (keystore.KeyInfo, error) {
	if k.ActsFor != "" {
		return keystore.KeyInfo{},
			fmt.Errorf("import key: %w: a token cannot store the account that a key acts for: import it into a "+
				"directory (file:DIR)", keystore.ErrUnsupported)
	}
	var id uuid.UUID
	if k.ID != "" {
		var err error
		if id, err = uuid.Parse(k.ID); err != nil {
			return keystore.KeyInfo{}, fmt.Errorf("import key: id %q is not a UUID", k.ID)
		}
	}
	derived, err := software.New(keystore.KeyInfo{ID: id.String(), PublicKey: k.PublicKey}, k.Curve, k.Secret)
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("import key: %w", err)
	}
	public := derived.Info().PublicKey
	derived.Destroy()
	info, err := s.importNew(ctx, organizationID, k, id, public)
	if err != nil {
		return info, fmt.Errorf("import key: %w", err)
	}
	return info, nil
}

// AddBatch implements keystore.Importer. It imports one key after the other.
func (s *Store) AddBatch(ctx context.Context, organizationID string, keys []keystore.NewKey) (infos []keystore.KeyInfo, errs []error) {
	for _, key := range keys {
		info, err := s.Add(ctx, organizationID, key)
		infos, errs = append(infos, info), append(errs, err)
	}
	return infos, errs
}

// importNew imports a key unless it exists. It checks before and after, because another
// process may import the same key at the same time.
func (s *Store) importNew(ctx context.Context, organizationID string, k keystore.NewKey, id uuid.UUID,
	public keystore.PublicKey) (keystore.KeyInfo, error) {
	for {
		existing, err := s.existing(ctx, organizationID, id, public)
		if err != nil {
			return keystore.KeyInfo{}, err
		}
		if existing != nil {
			return existing.Info(), fmt.Errorf("%w: key %s", keystore.ErrKeyExists, existing.id)
		}
		imported, err := s.create(ctx, organizationID, k, id, public)
		if err != nil {
			return keystore.KeyInfo{}, err
		}
		if !s.yieldToTwin(ctx, imported) {
			return imported.Info(), nil
		}
	}
}

func (s *Store) create(ctx context.Context, organizationID string, k keystore.NewKey, id uuid.UUID,
	public keystore.PublicKey) (*key, error) {
	copied := keystore.NewSecret(k.Secret) // the operation may outlive this call
	defer func() { go copied.Destroy() }() // which waits for the operation
	return s.add(ctx, organizationID, k.Name, id, func(in pkcs11.SessionHandle,
		common []*pkcs11.Attribute) (objects []pkcs11.ObjectHandle, err error) {
		err = copied.Reveal(func(secret []byte) error {
			objects, err = importPair(s.connection.module.Ctx, in, public, secret, common)
			return err
		})
		return objects, err
	})
}

// existing returns the key with this public key or, unless it is uuid.Nil, with this id, and nil if
// there is none. If a key with this id was skipped, it returns keystore.ErrKeyExists. It reads only
// such keys from the token, so that importing many keys does not read all of them every time.
func (s *Store) existing(ctx context.Context, organizationID string, id uuid.UUID, public keystore.PublicKey) (*key, error) {
	locators := keystore.Locators(public)
	if id != uuid.Nil {
		locators = append(locators, keystore.ByID(id.String()))
	}
	if k := s.lookUpAny(organizationID, locators); k != nil {
		return k, nil
	}
	if err := s.readMatching(ctx, id, public); err != nil {
		return nil, err
	}
	if k := s.lookUpAny(organizationID, locators); k != nil {
		return k, nil
	}
	for _, reason := range s.Skipped() {
		if id != uuid.Nil && strings.Contains(reason.Error(), fmt.Sprintf("CKA_ID %x ", id[:])) {
			return nil, fmt.Errorf("%w: %w", keystore.ErrKeyExists, reason)
		}
	}
	return nil, nil
}

func (s *Store) lookUpAny(organizationID string, locators []keystore.Locator) *key {
	for _, locator := range locators {
		if k := s.lookUp(organizationID, locator); k != nil {
			return k
		}
	}
	return nil
}

// readMatching reads the keys with this id or this public key.
func (s *Store) readMatching(ctx context.Context, id uuid.UUID, public keystore.PublicKey) error {
	if err := s.scanning.lock(ctx); err != nil {
		return err
	}
	defer s.scanning.unlock()
	ids, err := s.idsOf(ctx, public)
	if err != nil {
		return err
	}
	if id != uuid.Nil {
		ids = append(ids, id[:])
	}
	for _, ckaID := range ids {
		if err := s.readID(ctx, ckaID); err != nil {
			return err
		}
	}
	return nil
}

// readID reads the keys with a CKA_ID. The caller holds s.scanning.
func (s *Store) readID(ctx context.Context, ckaID []byte) error {
	inventory, err := s.read(ctx, pkcs11.NewAttribute(pkcs11.CKA_ID, ckaID))
	if err == nil {
		s.takeIn(inventory)
	}
	return err
}

// idsOf returns the CKA_IDs of the public objects that hold a public key.
func (s *Store) idsOf(ctx context.Context, public keystore.PublicKey) ([][]byte, error) {
	var ids [][]byte
	err := s.pool.do(ctx, func(lent session, _ bool) error {
		objects, err := find(s.connection.module.Ctx, lent.handle,
			pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PUBLIC_KEY),
			pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
			pkcs11.NewAttribute(pkcs11.CKA_EC_POINT, encodePoint(public)))
		ids = nil
		for _, object := range objects {
			values, attributeErr := attributes(s.connection.module.Ctx, lent.handle, object, pkcs11.CKA_ID)
			if attributeErr != nil && !isAttributeError(attributeErr) {
				err = attributeErr
			}
			if attributeErr == nil && len(values[0]) > 0 {
				ids = append(ids, values[0])
			}
		}
		return err
	})
	if err != nil { // the operation may still go on
		return nil, explain("reading the keys of the token", err)
	}
	return ids, nil
}

// yieldToTwin removes a key that was just imported, and returns true, if another process has
// imported the same secret meanwhile. Two processes that do so at the same time may both
// find no existing key; checking again after the import, at least one of them sees both keys.
//
// The key with the larger CKA_ID is removed. The smaller one waits for that, and is removed
// itself if the other process has not seen it. A failure leaves both keys, which is harmless.
func (s *Store) yieldToTwin(ctx context.Context, ours *key) (removed bool) {
	if err := s.scanning.lock(ctx); err != nil {
		return false
	}
	defer s.scanning.unlock()
	for range locateTries {
		other, err := s.twin(ctx, ours)
		if err != nil || other == nil {
			return false
		}
		if other.ckaID < ours.ckaID {
			break
		}
		time.Sleep(locatePause)
	}
	if err := s.eachObject(ctx, ours, s.connection.module.DestroyObject); err != nil {
		return false
	}
	s.forget(ours)
	return true
}

// twin returns a key of the organization with the same public key and another id, nil if
// there is none. The caller holds s.scanning.
func (s *Store) twin(ctx context.Context, ours *key) (*key, error) {
	ids, err := s.idsOf(ctx, ours.public)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if string(id) == ours.ckaID {
			continue
		}
		inventory, err := s.read(ctx, pkcs11.NewAttribute(pkcs11.CKA_ID, id))
		if err != nil {
			return nil, err
		}
		for _, other := range inventory.keys {
			if other.organization == ours.organization && other.public == ours.public {
				return other, nil
			}
		}
	}
	return nil, nil
}
