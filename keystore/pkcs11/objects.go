//go:build cgo

package pkcs11

import (
	"errors"
	"fmt"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Values of PKCS#11 3.0 that miekg/pkcs11 has no names for.
const (
	ckkECEdwards           = 0x40
	ckmECEdwardsKeyPairGen = 0x1055
	ckmEdDSA               = 0x1057
	ckrActionProhibited    = 0x1b
)

// scheme is how a token signs on a curve.
type scheme struct {
	keyType, generate, sign uint     // CKK_, CKM_, CKM_
	parameters              [][]byte // forms of CKA_EC_PARAMS for a new key, the most common first
}

var schemes = map[keystore.Curve]scheme{
	keystore.CurveSecp256k1: {pkcs11.CKK_EC, pkcs11.CKM_EC_KEY_PAIR_GEN, pkcs11.CKM_ECDSA, [][]byte{secp256k1OID}},
	keystore.CurveEd25519:   {ckkECEdwards, ckmECEdwardsKeyPairGen, ckmEdDSA, [][]byte{ed25519Name, ed25519OID}},
}

// maxObjects is the maximum number of keys on a token, of each type.
const maxObjects = 100_000

func find(module *pkcs11.Ctx, in pkcs11.SessionHandle, template ...*pkcs11.Attribute) (handles []pkcs11.ObjectHandle, err error) {
	if err := module.FindObjectsInit(in, template); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, module.FindObjectsFinal(in)) }()
	for {
		more, _, err := module.FindObjects(in, 256)
		if err != nil || len(more) == 0 {
			return handles, err
		}
		if handles = append(handles, more...); len(handles) > maxObjects {
			return nil, fmt.Errorf("more than %d objects of a type", maxObjects)
		}
	}
}

func attributes(module *pkcs11.Ctx, in pkcs11.SessionHandle, object pkcs11.ObjectHandle, types ...uint) ([][]byte, error) {
	template := make([]*pkcs11.Attribute, len(types))
	for i, kind := range types {
		template[i] = pkcs11.NewAttribute(kind, nil)
	}
	read, err := module.GetAttributeValue(in, object, template)
	if err != nil {
		return nil, err
	}
	values := make([][]byte, len(types))
	for i := range types {
		values[i] = read[i].Value
	}
	return values, nil
}

// publicObject is a public key on the token.
type publicObject struct {
	id            string
	params, point []byte
}

func publicObjects(module *pkcs11.Ctx, in pkcs11.SessionHandle, keyType uint, only []*pkcs11.Attribute) (map[string][]publicObject, error) {
	handles, err := find(module, in, append(only[:len(only):len(only)],
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PUBLIC_KEY),
		pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, keyType),
		pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true))...)
	if err != nil {
		return nil, err
	}
	byID := map[string][]publicObject{}
	for _, handle := range handles {
		values, err := attributes(module, in, handle, pkcs11.CKA_ID, pkcs11.CKA_EC_PARAMS, pkcs11.CKA_EC_POINT)
		if err != nil {
			if isAttributeError(err) {
				continue // incomplete
			}
			return nil, err
		}
		id := string(values[0])
		byID[id] = append(byID[id], publicObject{id, values[1], values[2]})
	}
	return byID, nil
}

// isAttributeError reports whether an object does not have an attribute, or does not reveal it.
func isAttributeError(err error) bool {
	return isOneOf(err, []pkcs11.Error{
		pkcs11.CKR_ATTRIBUTE_TYPE_INVALID, pkcs11.CKR_ATTRIBUTE_SENSITIVE, pkcs11.CKR_OBJECT_HANDLE_INVALID,
	})
}

// privateObject is a private key on the token.
type privateObject struct {
	id, label          string
	handle             pkcs11.ObjectHandle
	alwaysAuthenticate bool // CKA_ALWAYS_AUTHENTICATE
	extractable        bool // CKA_EXTRACTABLE, or not CKA_SENSITIVE
}

func privateObjects(module *pkcs11.Ctx, in pkcs11.SessionHandle, keyType uint, only []*pkcs11.Attribute) ([]privateObject, error) {
	handles, err := find(module, in, append(only[:len(only):len(only)],
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PRIVATE_KEY),
		pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, keyType),
		pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
		pkcs11.NewAttribute(pkcs11.CKA_SIGN, true))...)
	if err != nil {
		return nil, err
	}
	var objects []privateObject
	for _, handle := range handles {
		object, err := describe(module, in, handle)
		switch {
		case err == nil:
			objects = append(objects, object)
		case !isAttributeError(err):
			return nil, err
		}
	}
	return objects, nil
}

// describe reads the attributes of a private object, in one call or, if the token does not
// have all of them, one by one.
func describe(module *pkcs11.Ctx, in pkcs11.SessionHandle, handle pkcs11.ObjectHandle) (privateObject, error) {
	object := privateObject{handle: handle}
	values, err := attributes(module, in, handle, pkcs11.CKA_ID, pkcs11.CKA_LABEL,
		pkcs11.CKA_ALWAYS_AUTHENTICATE, pkcs11.CKA_SENSITIVE, pkcs11.CKA_EXTRACTABLE)
	if err == nil {
		object.id, object.label = string(values[0]), string(values[1])
		object.alwaysAuthenticate = isTrue(values[2])
		object.extractable = !isTrue(values[3]) || isTrue(values[4])
		return object, nil
	}
	if !isAttributeError(err) {
		return object, err
	}
	if values, err = attributes(module, in, handle, pkcs11.CKA_ID, pkcs11.CKA_LABEL); err != nil {
		return object, err
	}
	object.id, object.label = string(values[0]), string(values[1])
	for kind, set := range map[uint]func(is bool){
		pkcs11.CKA_ALWAYS_AUTHENTICATE: func(is bool) { object.alwaysAuthenticate = is },
		pkcs11.CKA_SENSITIVE:           func(is bool) { object.extractable = object.extractable || !is },
		pkcs11.CKA_EXTRACTABLE:         func(is bool) { object.extractable = object.extractable || is },
	} {
		values, err := attributes(module, in, handle, kind)
		if err != nil && !isAttributeError(err) {
			return object, err
		}
		if err == nil {
			set(isTrue(values[0]))
		}
	}
	return object, nil
}

func isTrue(value []byte) bool { return len(value) == 1 && value[0] != 0 }
