//go:build cgo

package pkcs11

import (
	"context"
	"errors"
	"fmt"

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
	if existing := s.existing(ctx, organizationID, append(keystore.Locators(public), keystore.ByID(id.String()))); existing != nil {
		return existing.info(), fmt.Errorf("import key: %w: key %s", keystore.ErrKeyExists, existing.id)
	}
	info, err := s.add(ctx, organizationID, k.Name, id, func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
		return importPair(s.connection.module, in, public, k.Secret, common)
	})
	if err != nil {
		return info, fmt.Errorf("import key: %w", err)
	}
	return info, nil
}

func (s *Store) existing(ctx context.Context, organizationID string, locators []keystore.Locator) *key {
	_, _ = s.refresh(ctx)
	for _, at := range locators {
		if k := s.lookUp(organizationID, at); k != nil {
			return k
		}
	}
	return nil
}

// maker makes the two objects of a key, which have attributes in common.
type maker func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error)

// add makes a key, reads it back and has it prove itself. A key that cannot is
// removed from the token.
func (s *Store) add(ctx context.Context, organizationID, name string, id uuid.UUID, make maker) (keystore.KeyInfo, error) {
	if err := s.settings.checkNew(organizationID, name); err != nil {
		return keystore.KeyInfo{}, err
	}
	s.scanning.Lock()
	defer s.scanning.Unlock()
	common := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
		pkcs11.NewAttribute(pkcs11.CKA_ID, id[:]),
		pkcs11.NewAttribute(pkcs11.CKA_LABEL, s.settings.label(organizationID, name)),
	}
	objects, err := s.inWritable(ctx, func(in pkcs11.SessionHandle) ([]pkcs11.ObjectHandle, error) { return make(in, common) })
	if err != nil {
		return keystore.KeyInfo{}, err
	}
	made, err := s.readBack(ctx, id)
	if err != nil {
		return keystore.KeyInfo{}, errors.Join(err, s.destroy(context.WithoutCancel(ctx), objects))
	}
	return made.info(), nil
}

// readBack reads the key that was just made, and takes it in.
func (s *Store) readBack(ctx context.Context, id uuid.UUID) (*key, error) {
	found, err := s.read(ctx, pkcs11.NewAttribute(pkcs11.CKA_ID, id[:]))
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
func (s *Store) inWritable(ctx context.Context, run func(in pkcs11.SessionHandle) ([]pkcs11.ObjectHandle, error)) ([]pkcs11.ObjectHandle, error) {
	type outcome struct {
		objects []pkcs11.ObjectHandle
		err     error
	}
	result := make(chan outcome, 1)
	err := s.pool.do(ctx, func(session, bool) error {
		handle, err := s.connection.newSession(pkcs11.CKF_RW_SESSION)
		if err != nil {
			return err
		}
		defer func() { _ = s.connection.module.CloseSession(handle) }()
		objects, err := run(handle)
		result <- outcome{objects, err}
		return nil
	})
	if err != nil {
		if isFinal(err) {
			return nil, err
		}
		return nil, explain("opening a session that can write", err)
	}
	made := <-result
	return made.objects, explain("changing the token", made.err)
}

func (s *Store) destroy(ctx context.Context, objects []pkcs11.ObjectHandle) error {
	_, err := s.inWritable(ctx, func(in pkcs11.SessionHandle) (_ []pkcs11.ObjectHandle, err error) {
		for _, object := range objects {
			err = errors.Join(err, s.connection.module.DestroyObject(in, object))
		}
		return nil, err
	})
	return err
}
