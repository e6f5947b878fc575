//go:build cgo

package pkcs11

import (
	"slices"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

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
