package pkcs11

import (
	"bytes"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
)

// The forms of CKA_EC_PARAMS: the DER of an object identifier, or of a
// PrintableString with the curve's name.
var (
	secp256k1OID  = []byte{0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x0a} // 1.3.132.0.10
	secp256k1Name = append([]byte{0x13, 9}, "secp256k1"...)
	ed25519OID    = []byte{0x06, 0x03, 0x2b, 0x65, 0x70}                                     // 1.3.101.112
	ed25519GnuPG  = []byte{0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01} // 1.3.6.1.4.1.11591.15.1
	ed25519Name   = append([]byte{0x13, 12}, "edwards25519"...)
	p256OID       = []byte{0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07} // 1.2.840.10045.3.1.7
)

// curveOf reads CKA_EC_PARAMS. It returns 0 for an unsupported curve.
func curveOf(params []byte) keystore.Curve {
	switch {
	case bytes.Equal(params, secp256k1OID), bytes.Equal(params, secp256k1Name):
		return keystore.CurveSecp256k1
	case bytes.Equal(params, ed25519OID), bytes.Equal(params, ed25519Name), bytes.Equal(params, ed25519GnuPG):
		return keystore.CurveEd25519
	}
	return 0
}

// parseClaim reads CKA_EC_PARAMS and CKA_EC_POINT. It returns the zero PublicKey for an
// unsupported named curve. Explicit parameters could be any curve and are an error.
func parseClaim(params, point []byte) (keystore.PublicKey, error) {
	const objectIdentifier, printableString = 0x06, 0x13
	curve := curveOf(params)
	switch {
	case curve != 0:
		return parsePoint(curve, point)
	case len(params) > 0 && (params[0] == objectIdentifier || params[0] == printableString):
		return keystore.PublicKey{}, nil
	}
	return keystore.PublicKey{},
		fmt.Errorf("its CKA_EC_PARAMS of %d bytes do not name a curve: create the key with the curve's object identifier", len(params))
}

// parsePoint reads CKA_EC_POINT. The standard requires the DER of an OCTET STRING; some
// modules omit the wrapping, some use a BIT STRING for Ed25519:
//
//	secp256k1   04 41 04 x y    04 21 02|03 x    raw: 04 x y, 02|03 x
//	Ed25519     04 20 y         03 21 00 y       raw: y
//
// The lengths of the forms differ, so that no point is ambiguous.
func parsePoint(curve keystore.Curve, encoded []byte) (keystore.PublicKey, error) {
	point := encoded
	switch {
	case curve == keystore.CurveSecp256k1 && len(encoded) == 67:
		point = bytes.TrimPrefix(encoded, []byte{0x04, 65})
	case curve == keystore.CurveSecp256k1 && len(encoded) == 35:
		point = bytes.TrimPrefix(encoded, []byte{0x04, 33})
	case curve == keystore.CurveEd25519 && len(encoded) == 34:
		point = bytes.TrimPrefix(encoded, []byte{0x04, 32})
	case curve == keystore.CurveEd25519 && len(encoded) == 35:
		point = bytes.TrimPrefix(encoded, []byte{0x03, 33, 0})
	}
	public, err := keystore.ParsePublicKey(curve, point)
	if err != nil {
		return keystore.PublicKey{}, fmt.Errorf("CKA_EC_POINT of %d bytes: %w", len(encoded), err)
	}
	return public, nil
}

// encodePoint writes CKA_EC_POINT as the standard requires.
func encodePoint(public keystore.PublicKey) []byte {
	if public.Curve() == keystore.CurveEd25519 {
		return append([]byte{0x04, 32}, public.Bytes()...)
	}
	point := public.Uncompressed()
	return append([]byte{0x04, 65}, point[:]...)
}
