//go:build cgo

package pkcs11

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Rename implements keystore.Renamer by setting the CKA_LABEL of the key's objects. Other
// processes see the new name at their next scan.
func (s *Store) Rename(ctx context.Context, organizationID, id, name string) error {
	if err := s.settings.checkNew(organizationID, name); err != nil {
		return fmt.Errorf("rename key: %w", err)
	}
	label := []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_LABEL, s.settings.label(organizationID, name))}
	k, err := s.change(ctx, "rename", organizationID, id, func(in pkcs11.SessionHandle,
		object pkcs11.ObjectHandle) error {
		return s.connection.module.SetAttributeValue(in, object, label)
	})
	if err != nil {
		return err
	}
	return s.readOne(ctx, []byte(k.ckaID))
}

// Delete implements keystore.Deleter: it destroys the private object of a key and the public
// ones with the same CKA_ID and CKA_LABEL. It cannot be undone.
func (s *Store) Delete(ctx context.Context, organizationID, id string) error {
	_, err := s.change(ctx, "delete", organizationID, id, s.connection.module.DestroyObject)
	return err
}

// change calls do for the objects of the key with an id, and forgets the key.
func (s *Store) change(ctx context.Context, operation, organizationID, id string,
	do func(in pkcs11.SessionHandle, object pkcs11.ObjectHandle) error) (*key, error) {
	k, err := s.search(ctx, organizationID, keystore.ByID(id))
	if errors.Is(err, keystore.ErrKeyNotFound) {
		err = fmt.Errorf("%w: %q", err, id)
	}
	if err != nil {
		return nil, fmt.Errorf("%s key: %w", operation, err)
	}
	if err := s.scanning.lock(ctx); err != nil {
		return nil, err
	}
	defer s.scanning.unlock()
	if err := s.eachObject(ctx, k, do); err != nil {
		return nil, fmt.Errorf("%s key %s: %w", operation, id, err)
	}
	s.forget(k)
	return k, nil
}

// eachObject calls do for the objects of a key. The public ones come last: without its
// private object, nothing counts as a key.
func (s *Store) eachObject(ctx context.Context, k *key, do func(in pkcs11.SessionHandle, object pkcs11.ObjectHandle) error) error {
	_, err := s.pool.inWritable(ctx, func(in pkcs11.SessionHandle, _ func() bool) ([]pkcs11.ObjectHandle, error) {
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

// forget removes a key from the index. Existing handles to it fail at the token. The caller
// holds s.scanning.
func (s *Store) forget(k *key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	index := map[string]*organization{}
	for _, org := range s.organizations {
		for _, other := range org.keys {
			if other != k {
				insert(index, other)
			}
		}
	}
	s.organizations = index
}

// remove deletes a new key from the token. If ctx ends first, remove returns an error and
// the deletion continues in the background.
func (s *Store) remove(ctx context.Context, ckaID []byte, objects []pkcs11.ObjectHandle) error {
	removed := make(chan error, 1)
	go func() {
		_, err := s.pool.inWritable(context.WithoutCancel(ctx), func(in pkcs11.SessionHandle,
			_ func() bool) ([]pkcs11.ObjectHandle, error) {
			return nil, s.connection.destroy(in, ckaID, objects)
		})
		removed <- err
	}()
	select {
	case err := <-removed:
		return err
	case <-ctx.Done():
		return errors.New("the new key is removed when the token answers, unless the store is closed before")
	}
}

// destroy destroys objects of a new key. It checks their CKA_ID first, of which the token may have
// stored a part: after a new login, a handle may be that of another key.
func (c *connection) destroy(in pkcs11.SessionHandle, ckaID []byte, objects []pkcs11.ObjectHandle) (err error) {
	for _, object := range objects {
		now, failed := attributes(c.module.Ctx, in, object, pkcs11.CKA_ID)
		switch {
		case failed != nil:
			failed = fmt.Errorf("the new key, with CKA_ID %x, stays on the token: %w", ckaID, failed)
		case len(now[0]) == 0 || !bytes.HasPrefix(ckaID, now[0]):
			failed = fmt.Errorf("the new key, with CKA_ID %x, stays on the token: its handle now belongs to another object", ckaID)
		default:
			failed = c.module.DestroyObject(in, object)
		}
		err = errors.Join(err, failed)
	}
	return err
}
