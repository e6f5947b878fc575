//go:build cgo

package pkcs11

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/miekg/pkcs11"
)

// remove takes a new key off the token. If ctx ends first, remove returns an error and
// the deletion continues in the background.
func (s *Store) remove(ctx context.Context, ckaID []byte, objects []pkcs11.ObjectHandle) error {
	removed := make(chan error, 1)
	go func() {
		_, err := s.inWritable(context.WithoutCancel(ctx), func(in pkcs11.SessionHandle, _ func() bool) ([]pkcs11.ObjectHandle, error) {
			return nil, s.destroy(in, ckaID, objects)
		})
		removed <- err
	}()
	select {
	case err := <-removed:
		return err
	case <-ctx.Done():
		return errors.New("the key that was made is removed when the token answers, unless the store is closed before")
	}
}

func (s *Store) destroy(in pkcs11.SessionHandle, ckaID []byte, objects []pkcs11.ObjectHandle) (err error) {
	for _, object := range objects {
		err = errors.Join(err, s.destroyOne(in, ckaID, object))
	}
	return err
}

// destroyOne asks first: since the login in which an object was made, its handle
// may have become that of another key. Of the id, the token may have kept a part.
func (s *Store) destroyOne(in pkcs11.SessionHandle, ckaID []byte, object pkcs11.ObjectHandle) error {
	now, err := attributes(s.connection.module.Ctx, in, object, pkcs11.CKA_ID)
	if err != nil {
		return fmt.Errorf("the new key, with CKA_ID %x, stays on the token: %w", ckaID, err)
	}
	if len(now[0]) == 0 || !bytes.HasPrefix(ckaID, now[0]) {
		return fmt.Errorf("the new key, with CKA_ID %x, stays on the token: its handle is that of another object by now", ckaID)
	}
	return s.connection.module.DestroyObject(in, object)
}
