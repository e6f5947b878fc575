//go:build cgo

package pkcs11

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Generate makes a new key on the token, which never leaves it. It is returned
// when it has made a signature that verifies.
func (s *Store) Generate(ctx context.Context, organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	if _, known := schemes[curve]; !known {
		return keystore.KeyInfo{}, fmt.Errorf("generate key: unknown curve %v: use CURVE_SECP256K1 or CURVE_ED25519", curve)
	}
	k, err := s.add(ctx, organizationID, name, uuid.Nil, func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
		return generatePair(s.connection.module.Ctx, in, curve, common)
	})
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("generate key: %w", err)
	}
	return k.Info(), nil
}

// maker makes the two objects of a key, the private one first, which have attributes
// in common.
type maker func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error)

// add makes a key, reads it back and has it prove itself. A key that cannot is
// removed from the token. Without an id the key gets one: a UUID, or if the token
// keeps no 16 bytes of CKA_ID, random bytes of the length that it keeps.
func (s *Store) add(ctx context.Context, organizationID, name string, id uuid.UUID, create maker) (*key, error) {
	if err := s.settings.checkNew(organizationID, name); err != nil {
		return nil, err
	}
	if err := s.startScanning(ctx); err != nil {
		return nil, err
	}
	defer s.stopScanning()
	label := s.settings.label(organizationID, name)
	if id != uuid.Nil {
		return s.addAs(ctx, id[:], label, create)
	}
	size := s.idSize
	for try := 1; ; try++ {
		k, err := s.addAs(ctx, newID(size), label, create)
		short, isShort := errors.AsType[*shortIDError](err)
		if !isShort || try == maxTries {
			if err == nil {
				s.idSize = size
			}
			return k, err
		}
		size = short.size
	}
}

// maxTries bounds how often an id is drawn anew: two bytes may be taken.
const maxTries = 64

// smallID is the shortest CKA_ID of tokens that do not take 16 bytes: YubiHSM 2's.
const smallID = 2

// newID draws a CKA_ID of a size; of 0 it is a UUID.
func newID(size int) []byte {
	if size == 0 {
		id := uuid.Must(uuid.NewV7())
		return id[:]
	}
	id := make([]byte, size)
	_, _ = rand.Read(id) // never fails
	return id
}

// shortIDError means that an id cannot be used, and how long the next one is to be.
type shortIDError struct {
	size int
	why  error
}

func (e *shortIDError) Error() string { return e.why.Error() }

func (e *shortIDError) Unwrap() error { return e.why }

// addAs is add with a certain CKA_ID and CKA_LABEL.
func (s *Store) addAs(ctx context.Context, ckaID []byte, label string, create maker) (*key, error) {
	names := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_ID, ckaID),
		pkcs11.NewAttribute(pkcs11.CKA_LABEL, label),
	}
	common := slices.Concat(names, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true)})
	objects, err := s.inWritable(ctx, func(in pkcs11.SessionHandle, awaited func() bool) ([]pkcs11.ObjectHandle, error) {
		objects, err := create(in, common)
		if err != nil {
			if len(ckaID) > smallID && isOneOf(err, idRefused) {
				err = &shortIDError{smallID, err}
			}
			return nil, err
		}
		if err := s.checkKept(in, objects[0], ckaID, label); err != nil {
			return nil, errors.Join(err, s.destroy(in, ckaID, objects))
		}
		if !awaited() {
			return nil, s.destroy(in, ckaID, objects)
		}
		return objects, nil
	})
	if err != nil {
		return nil, err
	}
	k, err := s.readBack(ctx, names)
	if err != nil {
		return nil, errors.Join(err, s.remove(ctx, ckaID, objects))
	}
	return k, nil
}

// idRefused are the answers of a module that does not take a CKA_ID of 16 bytes.
var idRefused = []pkcs11.Error{pkcs11.CKR_ATTRIBUTE_VALUE_INVALID, pkcs11.CKR_TEMPLATE_INCONSISTENT}

// checkKept reads a new private object back. Tokens cut what they have no room for:
// an id that is cut may be another key's, and a label that is cut another
// organization's.
func (s *Store) checkKept(in pkcs11.SessionHandle, object pkcs11.ObjectHandle, ckaID []byte, label string) error {
	kept, err := describe(s.connection.module.Ctx, in, object)
	switch {
	case err != nil:
		return err
	case kept.id != string(ckaID):
		return &shortIDError{len(kept.id), fmt.Errorf("the token keeps %d of the %d bytes of CKA_ID: leave the id out, and the key gets one that fits", len(kept.id), len(ckaID))}
	case kept.label != label:
		return fmt.Errorf("the token keeps %d of the %d bytes of CKA_LABEL (ORGANIZATION/NAME): shorten the name, or give the token to one organization with countersign-organization", len(kept.label), len(label))
	case kept.readable:
		return errors.New("the token has made a key whose secret can be taken out (CKA_EXTRACTABLE, or not CKA_SENSITIVE)")
	case len(ckaID) == 16:
		return nil
	}
	same, err := find(s.connection.module.Ctx, in,
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PRIVATE_KEY), pkcs11.NewAttribute(pkcs11.CKA_ID, ckaID))
	if err == nil && len(same) > 1 {
		err = &shortIDError{len(ckaID), fmt.Errorf("another key has the CKA_ID %x", ckaID)}
	}
	return err
}

// readBack reads the key that was just made, by its CKA_ID and CKA_LABEL, and
// takes it in. Another organization may have the same id.
func (s *Store) readBack(ctx context.Context, names []*pkcs11.Attribute) (*key, error) {
	found, err := s.read(ctx, names...)
	if err != nil {
		return nil, err
	}
	if len(found.keys) != 1 {
		return nil, errors.Join(append(found.skipped, errors.New("the token does not give back the key that it made"))...)
	}
	k := found.keys[0]
	if err := k.prove(ctx); err != nil {
		return nil, err
	}
	s.takeIn(inventory{keys: found.keys})
	return k, nil
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
