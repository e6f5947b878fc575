//go:build cgo

package pkcs11

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	k, err := s.add(ctx, organizationID, name, uuid.Nil, func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
		return generatePair(s.connection.module.Ctx, in, curve, common)
	})
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("generate key: %w", err)
	}
	return k.Info(), nil
}

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
