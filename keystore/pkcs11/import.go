//go:build cgo

package pkcs11

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Add puts a secret on the token, from where it can never be got again; but
// it was outside once, and copies of it may still be there. It returns
// keystore.ErrKeyExists, together with what there is, if the organization has a
// key with this id or this secret.
func (s *Store) Add(ctx context.Context, organizationID string, k keystore.NewKey) (keystore.KeyInfo, error) {
	if k.ActsFor != "" {
		return keystore.KeyInfo{}, fmt.Errorf("import key: %w: a token has no place for the account that a key acts for: import it into a directory (file:DIR)", keystore.ErrUnsupported)
	}
	var id uuid.UUID
	if k.ID != "" {
		var err error
		if id, err = uuid.Parse(k.ID); err != nil {
			return keystore.KeyInfo{}, fmt.Errorf("import key: id %q is no UUID", k.ID)
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

// AddBatch implements keystore.Importer. The token takes one key after the other.
func (s *Store) AddBatch(ctx context.Context, organizationID string, keys []keystore.NewKey) (infos []keystore.KeyInfo, errs []error) {
	for _, key := range keys {
		info, err := s.Add(ctx, organizationID, key)
		infos, errs = append(infos, info), append(errs, err)
	}
	return infos, errs
}

// importNew imports a key unless it is there already. It looks before and after:
// another process may import the same key at the same time.
func (s *Store) importNew(ctx context.Context, organizationID string, k keystore.NewKey, id uuid.UUID, public keystore.PublicKey) (keystore.KeyInfo, error) {
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
		if stays := s.giveWay(ctx, imported); stays {
			return imported.Info(), nil
		}
	}
}

// create imports a key.
func (s *Store) create(ctx context.Context, organizationID string, k keystore.NewKey, id uuid.UUID, public keystore.PublicKey) (*key, error) {
	// Making the key may outlast the context, and then the caller's slice.
	held := keystore.NewSecret(k.Secret)
	defer func() { go held.Destroy() }() // when that is over
	return s.add(ctx, organizationID, k.Name, id, func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) (objects []pkcs11.ObjectHandle, err error) {
		err = held.Reveal(func(secret []byte) error {
			objects, err = importPair(s.connection.module.Ctx, in, public, secret, common)
			return err
		})
		return objects, err
	})
}

// existing returns the key that has this id, unless it is uuid.Nil, or this public
// key; nil if there is none. It asks the token for these alone, so that importing
// many keys does not read all of them again and again.
func (s *Store) existing(ctx context.Context, organizationID string, id uuid.UUID, public keystore.PublicKey) (*key, error) {
	places := keystore.Locators(public)
	if id != uuid.Nil {
		places = append(places, keystore.ByID(id.String()))
	}
	for look := range 2 {
		for _, at := range places {
			if k := s.lookUp(organizationID, at); k != nil {
				return k, nil
			}
		}
		if look == 0 {
			if err := s.readPlaces(ctx, id, public); err != nil {
				return nil, err
			}
		}
	}
	return nil, s.skippedID(id)
}

// skippedID returns keystore.ErrKeyExists if a key with this id was skipped.
func (s *Store) skippedID(id uuid.UUID) error {
	for _, why := range s.Skipped() {
		if id != uuid.Nil && strings.Contains(why.Error(), fmt.Sprintf("CKA_ID %x ", id[:])) {
			return fmt.Errorf("%w: %w", keystore.ErrKeyExists, why)
		}
	}
	return nil
}

// readPlaces reads the keys with this id or this public key.
func (s *Store) readPlaces(ctx context.Context, id uuid.UUID, public keystore.PublicKey) error {
	if err := s.startScanning(ctx); err != nil {
		return err
	}
	defer s.stopScanning()
	ids, err := s.idsOf(ctx, public)
	if err != nil {
		return err
	}
	if id != uuid.Nil {
		ids = append(ids, id[:])
	}
	for _, one := range ids {
		if err := s.readID(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// readID reads the keys with a CKA_ID. s.scanning is held.
func (s *Store) readID(ctx context.Context, ckaID []byte) error {
	found, err := s.read(ctx, pkcs11.NewAttribute(pkcs11.CKA_ID, ckaID))
	if err == nil {
		s.takeIn(found)
	}
	return err
}

// idsOf returns the CKA_IDs of the public objects that hold a public key.
func (s *Store) idsOf(ctx context.Context, public keystore.PublicKey) ([][]byte, error) {
	result := make(chan [][]byte, 1)
	err := s.pool.do(ctx, func(held session, _ bool) error {
		objects, err := find(s.connection.module.Ctx, held.handle,
			pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PUBLIC_KEY),
			pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
			pkcs11.NewAttribute(pkcs11.CKA_EC_POINT, encodePoint(public)))
		var ids [][]byte
		for _, object := range objects {
			values, attributeErr := attributes(s.connection.module.Ctx, held.handle, object, pkcs11.CKA_ID)
			if attributeErr != nil && !isAttributeError(attributeErr) {
				err = attributeErr
			}
			if attributeErr == nil && len(values[0]) > 0 {
				ids = append(ids, values[0])
			}
		}
		if err == nil {
			result <- ids
		}
		return err
	})
	if err != nil {
		if isFinal(err) {
			return nil, err
		}
		return nil, explain("reading the keys of the token", err)
	}
	return <-result, nil
}
