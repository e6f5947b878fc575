//go:build cgo

package pkcs11

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Generate implements keystore.Generator. The secret is generated on the token and never
// leaves it. The key has made a signature that verifies before Generate returns.
func (s *Store) Generate(ctx context.Context, organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	scheme, known := schemes[curve]
	if !known {
		return keystore.KeyInfo{}, fmt.Errorf("generate key: unknown curve %v: use CURVE_SECP256K1 or CURVE_ED25519", curve)
	}
	k, err := s.add(ctx, organizationID, name, uuid.Nil, func(in pkcs11.SessionHandle,
		common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
		return generatePair(s.connection.module.Ctx, in, scheme, common)
	})
	if err != nil {
		return keystore.KeyInfo{}, fmt.Errorf("generate key: %w", err)
	}
	return k.Info(), nil
}

// creator creates the two objects of a key with the common attributes, and returns the
// private one first.
type creator func(in pkcs11.SessionHandle, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error)

// add creates a key, reads it back and has it prove itself; otherwise it removes the key
// from the token. If id is uuid.Nil, add generates one: a UUID or, if the token does not
// store 16 bytes of CKA_ID, random bytes of the length that it stores.
func (s *Store) add(ctx context.Context, organizationID, name string, id uuid.UUID, create creator) (*key, error) {
	if err := s.settings.checkNew(organizationID, name); err != nil {
		return nil, err
	}
	if err := s.scanning.lock(ctx); err != nil {
		return nil, err
	}
	defer s.scanning.unlock()
	label := s.settings.label(organizationID, name)
	if id != uuid.Nil {
		return s.addAs(ctx, id[:], label, create)
	}
	size := s.idSize
	for try := 1; ; try++ {
		fresh := uuid.Must(uuid.NewV7())
		ckaID := fresh[:]
		if size > 0 {
			ckaID = make([]byte, size)
			_, _ = rand.Read(ckaID) // never fails
		}
		k, err := s.addAs(ctx, ckaID, label, create)
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

// maxTries is the maximum number of generated ids: a short one may be taken.
const maxTries = 64

// smallID is the CKA_ID length of tokens that refuse 16 bytes: the YubiHSM 2's.
const smallID = 2

// shortIDError is the error for an id that cannot be used. size is the length of the next
// one to try.
type shortIDError struct {
	size int
	error
}

func (e *shortIDError) Unwrap() error { return e.error }

// addAs is add with a given CKA_ID and CKA_LABEL.
func (s *Store) addAs(ctx context.Context, ckaID []byte, label string, create creator) (*key, error) {
	names := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_ID, ckaID),
		pkcs11.NewAttribute(pkcs11.CKA_LABEL, label),
	}
	common := slices.Concat(names, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true)})
	objects, err := s.pool.inWritable(ctx, func(in pkcs11.SessionHandle, awaited func() bool) ([]pkcs11.ObjectHandle, error) {
		objects, err := create(in, common)
		if err != nil {
			if len(ckaID) > smallID && isOneOf(err, idRefused) {
				err = &shortIDError{smallID, err}
			}
			return nil, err
		}
		if err := s.checkStored(in, objects[0], ckaID, label); err != nil {
			return nil, errors.Join(err, s.connection.destroy(in, ckaID, objects))
		}
		if !awaited() {
			return nil, s.connection.destroy(in, ckaID, objects)
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

// idRefused lists the errors of modules that refuse a CKA_ID of 16 bytes.
var idRefused = []pkcs11.Error{pkcs11.CKR_ATTRIBUTE_VALUE_INVALID, pkcs11.CKR_TEMPLATE_INCONSISTENT}

// checkStored reads a new private object back. Tokens truncate attributes that are too long:
// a truncated id may be another key's, and a truncated label another organization's.
func (s *Store) checkStored(in pkcs11.SessionHandle, object pkcs11.ObjectHandle, ckaID []byte, label string) error {
	described, err := describe(s.connection.module.Ctx, in, object)
	switch {
	case err != nil:
		return err
	case described.id != string(ckaID):
		return &shortIDError{len(described.id),
			fmt.Errorf("the token stores %d of the %d bytes of CKA_ID: leave the id out to generate one that fits",
				len(described.id), len(ckaID))}
	case described.label != label:
		return fmt.Errorf("the token stores %d of the %d bytes of CKA_LABEL (ORGANIZATION/NAME): shorten the name, "+
			"or give the token to one organization with countersign-organization", len(described.label), len(label))
	case described.extractable:
		return errors.New("the token has created a key whose secret can be extracted (CKA_EXTRACTABLE, or not CKA_SENSITIVE)")
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

// readBack reads a new key by its CKA_ID and CKA_LABEL and adds it to the index. The label is
// needed because another organization may have the same id.
func (s *Store) readBack(ctx context.Context, names []*pkcs11.Attribute) (*key, error) {
	objects, err := s.read(ctx, names...)
	if err != nil {
		return nil, err
	}
	if len(objects.keys) != 1 {
		return nil, errors.Join(append(objects.skipped, errors.New("the token does not return the key that it created"))...)
	}
	k := objects.keys[0]
	if err := k.prove(ctx); err != nil {
		return nil, err
	}
	s.takeIn(inventory{keys: objects.keys})
	return k, nil
}

// privateAttributes returns the attributes of a new private key: it signs, and cannot be
// read, extracted or used for anything else.
func privateAttributes() []*pkcs11.Attribute {
	return []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PRIVATE_KEY),
		pkcs11.NewAttribute(pkcs11.CKA_PRIVATE, true),
		pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true),
		pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, false),
		pkcs11.NewAttribute(pkcs11.CKA_SIGN, true),
		pkcs11.NewAttribute(pkcs11.CKA_DERIVE, false),
	}
}

func publicAttributes() []*pkcs11.Attribute {
	return []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PUBLIC_KEY),
		pkcs11.NewAttribute(pkcs11.CKA_PRIVATE, false),
		pkcs11.NewAttribute(pkcs11.CKA_VERIFY, true),
	}
}

// refusedParameters lists the errors of modules that require another form of CKA_EC_PARAMS.
var refusedParameters = []pkcs11.Error{
	pkcs11.CKR_ATTRIBUTE_VALUE_INVALID, pkcs11.CKR_CURVE_NOT_SUPPORTED,
	pkcs11.CKR_DOMAIN_PARAMS_INVALID, pkcs11.CKR_TEMPLATE_INCONSISTENT,
}

// eachForm tries the forms of a curve's CKA_EC_PARAMS until the module accepts one.
func (s scheme) eachForm(create func(params *pkcs11.Attribute) ([]pkcs11.ObjectHandle, error)) (objects []pkcs11.ObjectHandle, err error) {
	for _, params := range s.parameters {
		objects, err = create(pkcs11.NewAttribute(pkcs11.CKA_EC_PARAMS, params))
		if !isOneOf(err, refusedParameters) {
			break
		}
	}
	return objects, err
}

func generatePair(module *pkcs11.Ctx, in pkcs11.SessionHandle, scheme scheme, common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
	keyType := pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, scheme.keyType)
	mechanism := []*pkcs11.Mechanism{pkcs11.NewMechanism(scheme.generate, nil)}
	return scheme.eachForm(func(params *pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
		public, private, err := module.GenerateKeyPair(in, mechanism,
			slices.Concat(publicAttributes(), common, []*pkcs11.Attribute{keyType, params}),
			slices.Concat(privateAttributes(), common, []*pkcs11.Attribute{keyType}))
		return []pkcs11.ObjectHandle{private, public}, err
	})
}

// importPair creates the private object and then the public one. If that fails, it removes
// the private one again.
func importPair(module *pkcs11.Ctx, in pkcs11.SessionHandle, public keystore.PublicKey, secret []byte,
	common []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
	scheme := schemes[public.Curve()]
	keyType := pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, scheme.keyType)
	return scheme.eachForm(func(params *pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
		private, err := module.CreateObject(in, slices.Concat(privateAttributes(), common,
			[]*pkcs11.Attribute{keyType, params, pkcs11.NewAttribute(pkcs11.CKA_VALUE, secret)}))
		if err != nil {
			return nil, err
		}
		point := pkcs11.NewAttribute(pkcs11.CKA_EC_POINT, encodePoint(public))
		publicObject, err := module.CreateObject(in, slices.Concat(publicAttributes(), common, []*pkcs11.Attribute{keyType, params, point}))
		if err != nil {
			_ = module.DestroyObject(in, private)
			return nil, err
		}
		return []pkcs11.ObjectHandle{private, publicObject}, nil
	})
}
