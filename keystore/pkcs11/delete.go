//go:build cgo

package pkcs11

import (
	"context"
	"fmt"
	"slices"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Delete destroys a key on the token: its private object, and the public ones that
// have its CKA_ID and CKA_LABEL. There is no way back.
func (s *Store) Delete(ctx context.Context, organizationID, id string) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	k := s.lookUp(organizationID, keystore.ByID(id))
	if k == nil {
		var err error
		if k, err = s.seek(ctx, organizationID, keystore.ByID(id)); err != nil {
			return fmt.Errorf("delete key: %w", err)
		}
	}
	if k == nil {
		return fmt.Errorf("delete key: %w: %q", keystore.ErrKeyNotFound, id)
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

// erase destroys the objects of a key, the public ones last: without its private
// object nothing is taken for a key.
func (s *Store) erase(ctx context.Context, k *key) error {
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
					err = s.connection.module.DestroyObject(in, object)
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
