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
	k, err := s.named(ctx, organizationID, id)
	if err != nil {
		return fmt.Errorf("rename key: %w", err)
	}
	if err := s.scanning.lock(ctx); err != nil {
		return err
	}
	defer s.scanning.unlock()
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
	k, err := s.search(ctx, organizationID, keystore.ByID(id))
	if errors.Is(err, keystore.ErrKeyNotFound) {
		err = fmt.Errorf("%w: %q", err, id)
	}
	return k, err
}

// Delete implements keystore.Deleter: it destroys the private object of a key and the public
// ones with the same CKA_ID and CKA_LABEL. It cannot be undone.
func (s *Store) Delete(ctx context.Context, organizationID, id string) error {
	k, err := s.named(ctx, organizationID, id)
	if err != nil {
		return fmt.Errorf("delete key: %w", err)
	}
	if err := s.scanning.lock(ctx); err != nil {
		return err
	}
	defer s.scanning.unlock()
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

func (c *connection) destroy(in pkcs11.SessionHandle, ckaID []byte, objects []pkcs11.ObjectHandle) (err error) {
	for _, object := range objects {
		err = errors.Join(err, c.destroyOne(in, ckaID, object))
	}
	return err
}

// destroyOne checks the CKA_ID first, of which the token may have stored a part: after a new
// login, the handle may be that of another key.
func (c *connection) destroyOne(in pkcs11.SessionHandle, ckaID []byte, object pkcs11.ObjectHandle) error {
	now, err := attributes(c.module.Ctx, in, object, pkcs11.CKA_ID)
	if err != nil {
		return fmt.Errorf("the new key, with CKA_ID %x, stays on the token: %w", ckaID, err)
	}
	if len(now[0]) == 0 || !bytes.HasPrefix(ckaID, now[0]) {
		return fmt.Errorf("the new key, with CKA_ID %x, stays on the token: its handle now belongs to another object", ckaID)
	}
	return c.module.DestroyObject(in, object)
}
