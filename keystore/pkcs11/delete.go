//go:build cgo

package pkcs11

import (
	"context"
	"fmt"
	"slices"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Rename implements keystore.Renamer: it sets the CKA_LABEL of the key's objects. Other
// processes find it under its new name when they look at the token again.
func (s *Store) Rename(ctx context.Context, organizationID, id, name string) error {
	if err := s.settings.checkNew(organizationID, name); err != nil {
		return fmt.Errorf("rename key: %w", err)
	}
	k, err := s.named(ctx, organizationID, id)
	if err != nil {
		return fmt.Errorf("rename key: %w", err)
	}
	if err := s.startScanning(ctx); err != nil {
		return err
	}
	defer s.stopScanning()
	label := s.settings.label(organizationID, name)
	if err := s.relabel(ctx, k, label); err != nil {
		return fmt.Errorf("rename key %s: %w", id, err)
	}
	s.forget(k)
	return s.readID(ctx, []byte(k.ckaID))
}

func (s *Store) relabel(ctx context.Context, k *key, label string) error {
	return s.eachObject(ctx, k, func(in pkcs11.SessionHandle, object pkcs11.ObjectHandle) error {
		return s.connection.module.SetAttributeValue(in, object, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_LABEL, label)})
	})
}

// named returns the key with an id.
func (s *Store) named(ctx context.Context, organizationID, id string) (*key, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	k := s.lookUp(organizationID, keystore.ByID(id))
	if k == nil {
		var err error
		if k, err = s.seek(ctx, organizationID, keystore.ByID(id)); err != nil {
			return nil, err
		}
	}
	if k == nil {
		return nil, fmt.Errorf("%w: %q", keystore.ErrKeyNotFound, id)
	}
	return k, nil
}

// Delete destroys a key on the token: its private object, and the public ones that
// have its CKA_ID and CKA_LABEL. There is no way back.
func (s *Store) Delete(ctx context.Context, organizationID, id string) error {
	k, err := s.named(ctx, organizationID, id)
	if err != nil {
		return fmt.Errorf("delete key: %w", err)
	}
	if err := s.startScanning(ctx); err != nil {
		return err
	}
	defer s.stopScanning()
	if err := s.erase(ctx, k); err != nil {
		return fmt.Errorf("delete key %s: %w", id, err)
	}
	s.forget(k)
	return nil
}

// erase destroys the objects of a key.
func (s *Store) erase(ctx context.Context, k *key) error {
	return s.eachObject(ctx, k, s.connection.module.DestroyObject)
}

// eachObject calls do for the objects of a key, the public ones last: without its
// private object nothing is taken for a key.
func (s *Store) eachObject(ctx context.Context, k *key, do func(in pkcs11.SessionHandle, object pkcs11.ObjectHandle) error) error {
	_, err := s.inWritable(ctx, func(in pkcs11.SessionHandle, _ func() bool) ([]pkcs11.ObjectHandle, error) {
		for _, class := range []uint{pkcs11.CKO_PRIVATE_KEY, pkcs11.CKO_PUBLIC_KEY} {
			objects, err := find(s.connection.module.Ctx, in,
				pkcs11.NewAttribute(pkcs11.CKA_CLASS, class), pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
				pkcs11.NewAttribute(pkcs11.CKA_ID, []byte(k.ckaID)), pkcs11.NewAttribute(pkcs11.CKA_LABEL, k.label))
			if err == nil && class == pkcs11.CKO_PRIVATE_KEY && len(objects) != 1 {
				err = fmt.Errorf("%d private objects have its CKA_ID and CKA_LABEL, want 1", len(objects))
			}
			for _, object := range objects {
				if err == nil {
					err = do(in, object)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// forget takes a key out of the index. Handles that were given out fail at the token
// from then on. s.scanning is held.
func (s *Store) forget(k *key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := map[string]*organization{}
	for _, org := range s.organizations {
		for _, other := range slices.DeleteFunc(org.keys, func(one *key) bool { return one == k }) {
			insert(rest, other)
		}
	}
	s.organizations = rest
}
