//go:build cgo

package pkcs11

import (
	"errors"
	"fmt"
	"slices"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// inventory is what a scan of the token finds.
type inventory struct {
	keys    []*key
	leftOut []error
}

// scan reads the keys of both types, or those with certain attributes only.
func (s *Store) scan(in pkcs11.SessionHandle, only ...*pkcs11.Attribute) (inventory, error) {
	var found inventory
	logins := s.connection.logins.Load()
	if err := s.connection.mustBeLoggedIn(in); err != nil {
		return inventory{}, err
	}
	for _, keyType := range []uint{pkcs11.CKK_EC, ckkECEdwards} {
		private, err := privateObjects(s.connection.module, in, keyType, only)
		if err == nil && len(private) > 0 {
			var public map[string][]publicObject
			public, err = publicObjects(s.connection.module, in, keyType, only)
			s.pair(private, public, &found)
		}
		if err != nil && !isUnknownType(err) {
			return inventory{}, err
		}
	}
	if s.connection.logins.Load() != logins { // the login ended meanwhile, and with it the keys
		return inventory{}, pkcs11.Error(pkcs11.CKR_USER_NOT_LOGGED_IN)
	}
	return found, s.connection.mustBeLoggedIn(in)
}

// isUnknownType: the module has never heard of the key type that it is asked
// to look for.
func isUnknownType(err error) bool {
	return isOneOf(err, []pkcs11.Error{pkcs11.CKR_ATTRIBUTE_VALUE_INVALID, pkcs11.CKR_ATTRIBUTE_TYPE_INVALID})
}

// pair finds the public key of each private one.
func (s *Store) pair(private []privateObject, public map[string][]publicObject, found *inventory) {
	times := map[[2]string]int{}
	for _, object := range private {
		times[[2]string{object.id, object.label}]++
	}
	for _, object := range private {
		made, err := s.newKey(object, public[object.id])
		if err == nil && made != nil && times[[2]string{object.id, object.label}] > 1 {
			err = errors.New("another private key has the same CKA_ID and CKA_LABEL")
		}
		if err != nil {
			found.leftOut = append(found.leftOut, leftOut(object.label, object.id, err))
		} else if made != nil {
			found.keys = append(found.keys, made)
		}
	}
}

func leftOut(label, ckaID string, why error) error {
	return fmt.Errorf("pkcs11: key %q with CKA_ID %x is left out: %w", label, ckaID, why)
}

// newKey makes a key of the objects; nil if it is of a curve that is none of
// ours.
func (s *Store) newKey(object privateObject, candidates []publicObject) (*key, error) {
	public, err := s.publicKey(object, candidates)
	if err != nil || public.IsZero() {
		return nil, err
	}
	if object.id == "" {
		return nil, errors.New("it has no CKA_ID")
	}
	if object.alwaysAsks {
		return nil, errors.New("it wants the PIN for every signature (CKA_ALWAYS_AUTHENTICATE)")
	}
	organization, name, err := s.settings.parseLabel(object.label)
	if err != nil {
		return nil, err
	}
	made := &key{
		store: s, organization: organization, name: name, label: object.label,
		ckaID: object.id, id: keyID([]byte(object.id)), public: public,
	}
	made.handle.Store(uint64(object.handle))
	return made, nil
}

// publicKey returns what the configuration or the token says is the public key
// of a private one; whether that is true is for key.prove to find out. The zero
// PublicKey is of a curve that is none of ours.
func (s *Store) publicKey(object privateObject, candidates []publicObject) (keystore.PublicKey, error) {
	if configured, ok := s.settings.publicKeys[keystore.ByID(keyID([]byte(object.id)))]; ok {
		return configured, nil
	}
	if same := slices.DeleteFunc(slices.Clone(candidates), func(p publicObject) bool { return p.label != object.label }); len(same) > 0 {
		candidates = same
	}
	switch len(candidates) {
	case 0:
		return keystore.PublicKey{}, errors.New("there is no public key with its CKA_ID on the token: put it there, or into Options.PublicKeys")
	case 1:
	default:
		return keystore.PublicKey{}, errors.New("several public keys have its CKA_ID")
	}
	curve := curveOf(candidates[0].params)
	if curve == 0 {
		return keystore.PublicKey{}, nil
	}
	return parsePoint(curve, candidates[0].point)
}
