//go:build cgo

package pkcs11

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Generate makes a new key on the token, which never leaves it. It is returned
// when it has made a signature that verifies.
func (s *Store) Generate(ctx context.Context, organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	if _, known := schemes[curve]; !known {
		return keystore.KeyInfo{}, fmt.Errorf("generate key: unknown curve %v: use CURVE_SECP256K1 or CURVE_ED25519", curve)
	}
	id := uuid.Must(uuid.NewV7())
	info, err := s.add(ctx, organizationID, name, id, func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
		return generatePair(s.connection.module, in, curve, common)
	})
	if err != nil {
		return info, fmt.Errorf("generate key: %w", err)
	}
	return info, nil
}

// Import puts a secret on the token, from where it can never be got again; but
// it was outside once, and who had it there may have it still. It returns
// keystore.ErrKeyExists, together with what there is, if the organization has a
// key with this id or this secret.
func (s *Store) Import(ctx context.Context, organizationID string, k Key) (keystore.KeyInfo, error) {
	id, err := uuid.NewV7()
	if k.ID != "" {
		id, err = uuid.Parse(k.ID)
	}
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("import key: id %q is no UUID", k.ID)
	}
	derived, err := software.New(keystore.KeyInfo{ID: id.String()}, k.Curve, k.Secret)
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("import key: %w", err)
	}
	public := derived.Info().PublicKey
	derived.Destroy()
	existing, err := s.existing(ctx, organizationID, append(keystore.Locators(public), keystore.ByID(id.String())))
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("import key: %w", err)
	}
	if existing != nil {
		return existing.info(), fmt.Errorf("import key: %w: key %s", keystore.ErrKeyExists, existing.id)
	}
	// Making the key may outlast the context, and then the caller's slice.
	held := keystore.NewSecret(k.Secret)
	defer func() { go held.Destroy() }() // when that is over
	info, err := s.add(ctx, organizationID, k.Name, id, func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) (made []pkcs11.ObjectHandle, err error) {
		err = held.Reveal(func(secret []byte) error {
			made, err = importPair(s.connection.module, in, public, secret, common)
			return err
		})
		return made, err
	})
	if err != nil {
		return info, fmt.Errorf("import key: %w", err)
	}
	return info, nil
}

// existing returns the key at one of the locators; nil if there is none.
func (s *Store) existing(ctx context.Context, organizationID string, locators []keystore.Locator) (*key, error) {
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	for _, at := range locators {
		if k := s.lookUp(organizationID, at); k != nil {
			return k, nil
		}
	}
	return nil, nil
}

// maker makes the two objects of a key, which have attributes in common.
type maker func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error)

// add makes a key, reads it back and has it prove itself. A key that cannot is
// removed from the token.
func (s *Store) add(ctx context.Context, organizationID, name string, id uuid.UUID, make maker) (keystore.KeyInfo, error) {
	if err := s.settings.checkNew(organizationID, name); err != nil {
		return keystore.KeyInfo{}, err
	}
	if err := s.startScanning(ctx); err != nil {
		return keystore.KeyInfo{}, err
	}
	defer s.stopScanning()
	names := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_ID, id[:]),
		pkcs11.NewAttribute(pkcs11.CKA_LABEL, s.settings.label(organizationID, name)),
	}
	common := slices.Concat(names, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true)})
	objects, err := s.inWritable(ctx, func(in pkcs11.SessionHandle, awaited func() bool) ([]pkcs11.ObjectHandle, error) {
		objects, err := make(in, common)
		if err == nil && !awaited() {
			return nil, s.destroy(in, id, objects)
		}
		return objects, err
	})
	if err != nil {
		return keystore.KeyInfo{}, err
	}
	made, err := s.readBack(ctx, names)
	if err != nil {
		return keystore.KeyInfo{}, errors.Join(err, s.remove(ctx, id, objects))
	}
	return made.info(), nil
}

// readBack reads the key that was just made, by its CKA_ID and CKA_LABEL, and
// takes it in. Another organization may have the same id.
func (s *Store) readBack(ctx context.Context, names []*pkcs11.Attribute) (*key, error) {
	found, err := s.read(ctx, names...)
	if err != nil {
		return nil, err
	}
	if len(found.keys) != 1 {
		return nil, errors.Join(append(found.leftOut, errors.New("the token does not give back the key that it made"))...)
	}
	made := found.keys[0]
	if err := made.prove(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.insert(made)
	return made, nil
}

// inWritable runs something once in a session that may change the token. It
// holds a place in the pool meanwhile, so that Close waits for it.
//
// What is run asks whether it is awaited when there is something to hand over. It
// is told so if the caller has not left, who then cannot leave any more.
func (s *Store) inWritable(ctx context.Context, run func(in pkcs11.SessionHandle, awaited func() bool) ([]pkcs11.ObjectHandle, error)) ([]pkcs11.ObjectHandle, error) {
	type outcome struct {
		objects []pkcs11.ObjectHandle
		err     error
	}
	result := make(chan outcome, 1)
	var decided atomic.Bool // that it is handed over, or that the caller has left
	err := s.pool.do(ctx, func(session, bool) error {
		handle, err := s.connection.newSession(pkcs11.CKF_RW_SESSION)
		if err != nil {
			return err
		}
		defer func() { _ = s.connection.module.CloseSession(handle) }()
		objects, err := run(handle, func() bool { return decided.CompareAndSwap(false, true) })
		result <- outcome{objects, err}
		return nil
	})
	if err != nil && decided.CompareAndSwap(false, true) {
		if isFinal(err) {
			return nil, err
		}
		return nil, explain("opening a session that can write", err)
	}
	made := <-result
	return made.objects, explain("changing the token", made.err)
}

// remove takes a new key off the token. Who cannot wait for it, since the token
// hangs for instance, is told; it goes on behind his back.
func (s *Store) remove(ctx context.Context, id uuid.UUID, objects []pkcs11.ObjectHandle) error {
	removed := make(chan error, 1)
	go func() {
		_, err := s.inWritable(context.WithoutCancel(ctx), func(in pkcs11.SessionHandle, _ func() bool) ([]pkcs11.ObjectHandle, error) {
			return nil, s.destroy(in, id, objects)
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

func (s *Store) destroy(in pkcs11.SessionHandle, id uuid.UUID, objects []pkcs11.ObjectHandle) (err error) {
	for _, object := range objects {
		err = errors.Join(err, s.destroyOne(in, id, object))
	}
	return err
}

// destroyOne asks first: since the login in which an object was made, its handle
// may have become that of another key.
func (s *Store) destroyOne(in pkcs11.SessionHandle, id uuid.UUID, object pkcs11.ObjectHandle) error {
	now, err := attributes(s.connection.module, in, object, pkcs11.CKA_ID)
	if err != nil {
		return fmt.Errorf("the new key, with CKA_ID %x, stays on the token: %w", id[:], err)
	}
	if !bytes.Equal(now[0], id[:]) {
		return fmt.Errorf("the new key, with CKA_ID %x, stays on the token: its handle is that of another object by now", id[:])
	}
	return s.connection.module.DestroyObject(in, object)
}
