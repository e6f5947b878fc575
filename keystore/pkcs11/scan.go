//go:build cgo

package pkcs11

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// inventory is the result of a scan of the token.
type inventory struct {
	keys        []*key
	skipped     []error
	extractable []error // one for each of the keys whose secret can be extracted
}

// read scans the token in a session of the pool.
func (s *Store) read(ctx context.Context, only ...*pkcs11.Attribute) (inventory, error) {
	var objects inventory
	err := s.pool.do(ctx, func(lent session, _ bool) (err error) {
		objects, err = s.scan(lent.handle, only...)
		return err
	})
	if err != nil { // the operation may still go on
		return inventory{}, explain("reading the keys of the token", err)
	}
	return objects, nil
}

// scan reads the keys of both types, or only those with the given attributes.
func (s *Store) scan(in pkcs11.SessionHandle, only ...*pkcs11.Attribute) (inventory, error) {
	logins := s.connection.module.logins.Load()
	if err := s.connection.mustBeLoggedIn(in); err != nil {
		return inventory{}, err
	}
	scan := scanner{Store: s, in: in, private: map[identity]int{}}
	for _, keyType := range []uint{pkcs11.CKK_EC, ckkECEdwards} {
		err := scan.collect(keyType, only)
		if err != nil && !isOneOf(err, typeUnknown) {
			return inventory{}, err
		}
	}
	if err := scan.pair(); err != nil {
		return inventory{}, err
	}
	return scan.found, s.connection.presentSince(logins, in) // a token that is away has no objects either
}

// typeUnknown: the module does not know the key type searched for.
var typeUnknown = []pkcs11.Error{pkcs11.CKR_ATTRIBUTE_VALUE_INVALID, pkcs11.CKR_ATTRIBUTE_TYPE_INVALID}

// scanner is one scan.
type scanner struct {
	*Store
	in      pkcs11.SessionHandle
	objects []candidate
	private map[identity]int // number of private objects
	found   inventory
}

// candidate is a private object with the public objects that have the same CKA_ID.
type candidate struct {
	privateObject
	public             []publicObject
	organization, name string
	labelError         error
}

// identity must be unique for each key.
type identity struct{ organization, ckaID string }

// collect reads the objects of a key type.
func (s *scanner) collect(keyType uint, only []*pkcs11.Attribute) error {
	private, err := privateObjects(s.connection.module.Ctx, s.in, keyType, only)
	if err != nil || len(private) == 0 {
		return err
	}
	// Public objects share the CKA_ID with private ones, whereas their labels may differ.
	shared := slices.DeleteFunc(slices.Clone(only), func(a *pkcs11.Attribute) bool { return a.Type != pkcs11.CKA_ID })
	public, err := publicObjects(s.connection.module.Ctx, s.in, keyType, shared)
	if err != nil {
		return err
	}
	for _, object := range private {
		c := candidate{privateObject: object, public: public[object.id]}
		c.organization, c.name, c.labelError = s.settings.parseLabel(object.label)
		if c.labelError == nil {
			s.private[identity{c.organization, object.id}]++
		}
		s.objects = append(s.objects, c)
	}
	return nil
}

// pair finds the public key of each private one.
func (s *scanner) pair() error {
	for _, object := range s.objects {
		k, err := s.newKey(object)
		switch {
		case retryable(err):
			return err
		case err != nil:
			s.found.skipped = append(s.found.skipped, fmt.Errorf("pkcs11: key %q with CKA_ID %x is skipped: %w",
				object.label, object.id, err))
		case k != nil:
			s.found.keys = append(s.found.keys, k)
			if object.extractable {
				s.found.extractable = append(s.found.extractable,
					fmt.Errorf("pkcs11: key %q with CKA_ID %x can be extracted from the token (CKA_EXTRACTABLE is "+
						"true, or CKA_SENSITIVE false)", object.label, object.id))
			}
		}
	}
	return nil
}

// newKey returns the key of an object, reusing the key of an earlier scan if nothing has
// changed. It returns nil if the object is on an unsupported curve.
func (s *scanner) newKey(object candidate) (*key, error) {
	public, proved, err := s.publicKey(object)
	switch {
	case err != nil || public.IsZero():
		return nil, err
	case object.id == "":
		return nil, errors.New("it has no CKA_ID")
	case object.alwaysAuthenticate:
		return nil, errors.New("it requires the PIN for every signature (CKA_ALWAYS_AUTHENTICATE)")
	case object.labelError != nil:
		return nil, object.labelError
	case s.private[identity{object.organization, object.id}] > 1:
		return nil,
			fmt.Errorf("%d private keys of its organization have this CKA_ID, and a request cannot choose between "+
				"them: give each its own", s.private[identity{object.organization, object.id}])
	}
	known := s.known(object)
	if known != nil && known.public == public {
		known.handle.Store(uint64(object.handle))
		return known, nil
	}
	k := &key{
		store: s.Store, organization: object.organization, name: object.name, label: object.label,
		ckaID: object.id, id: keyID([]byte(object.id)), public: public,
	}
	k.handle.Store(uint64(object.handle))
	k.proved.Store(proved)
	k.locators = software.Locators(public, k.id)
	return k, nil
}

// known returns the key of a private object from the last scan, nil if there is none.
func (s *scanner) known(object candidate) *key {
	k := s.lookUp(object.organization, keystore.ByID(keyID([]byte(object.id))))
	if k != nil && k.ckaID == object.id && k.label == object.label {
		return k
	}
	return nil
}

// publicKey returns the public key of a private object: the configured one, else the one
// proved earlier, else that of a public object with the same CKA_ID. Public objects can be
// planted and removed without a PIN. Of several, it takes the one under which the private
// key's signature verifies; a single one has yet to be proved (key.prove). The zero
// PublicKey stands for an unsupported curve.
func (s *scanner) publicKey(object candidate) (public keystore.PublicKey, proved bool, err error) {
	if configured, ok := s.settings.publicKeys[keystore.ByID(keyID([]byte(object.id)))]; ok {
		return configured, false, nil
	}
	if known := s.known(object); known != nil && known.proved.Load() {
		return known.public, true, nil
	}
	claimed, err := claims(object.public)
	switch {
	case len(claimed) == 1:
		return claimed[0], false, nil
	case len(claimed) > 1:
		public, err = s.choose(object, claimed)
		return public, err == nil, err
	case len(object.public) == 0:
		return public, false,
			errors.New("no public object on the token has its CKA_ID: create one ('pkcs11-tool --write-object " +
				"KEY.der --type pubkey --id …'), or name the key in Options.PublicKeys")
	}
	return public, false, err
}

// claims returns the distinct public keys of public objects. The error of an unreadable
// object matters only if there are no others.
func claims(objects []publicObject) (claimed []keystore.PublicKey, err error) {
	seen := map[keystore.PublicKey]bool{}
	for _, object := range objects {
		public, parseErr := parseClaim(object.params, object.point)
		switch {
		case parseErr != nil:
			err = parseErr
		case !public.IsZero() && !seen[public]:
			seen[public] = true
			claimed = append(claimed, public)
		}
	}
	return claimed, err
}

// choose has the private key sign, and returns the public key under which the signature verifies.
func (s *scanner) choose(object candidate, claimed []keystore.PublicKey) (keystore.PublicKey, error) {
	signed := map[keystore.Curve][]byte{}
	for _, public := range claimed {
		curve := public.Curve()
		if signed[curve] == nil {
			raw, err := s.connection.sign(s.in, object.handle, schemes[curve], proofOf(curve))
			if retryable(err) {
				return keystore.PublicKey{}, err
			}
			signed[curve] = append([]byte{}, raw...) // not nil: the key signs only once
		}
		if verifyProof(public, signed[curve]) == nil {
			return public, nil
		}
	}
	return keystore.PublicKey{},
		fmt.Errorf("%d public objects have its CKA_ID, and its signature verifies under none of them", len(claimed))
}
