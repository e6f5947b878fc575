package stamp

import (
	"fmt"

	"github.com/countersign-dev/countersign/stamp/signer"
)

// Scheme is the signature scheme of a stamp.
type Scheme = signer.Scheme

// The schemes of the API.
const (
	SchemeP256                   = signer.SchemeP256
	SchemeSecp256k1              = signer.SchemeSecp256k1
	SchemeSecp256k1EIP191        = signer.SchemeSecp256k1EIP191
	SchemeEd25519                = signer.SchemeEd25519
	SchemeWebAuthn        Scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN"
)

// Curve is the curve of an API key.
type Curve = signer.Curve

// The curves of API keys.
const (
	CurveP256      = signer.CurveP256
	CurveSecp256k1 = signer.CurveSecp256k1
	CurveEd25519   = signer.CurveEd25519
)

// schemes are those of API keys, with their curves.
var schemes = map[Scheme]Curve{SchemeP256: CurveP256, SchemeSecp256k1: CurveSecp256k1,
	SchemeSecp256k1EIP191: CurveSecp256k1, SchemeEd25519: CurveEd25519}

// schemeOf returns the scheme of an API key that a stamp names, without a copy, and its curve.
func schemeOf(text []byte) (Scheme, Curve, error) {
	for scheme, curve := range schemes {
		if string(text) == string(scheme) {
			return scheme, curve, nil
		}
	}
	return "", "", fmt.Errorf("%w: unknown scheme %.64q: use %s, %s, %s or %s", ErrMalformed, string(text),
		SchemeP256, SchemeSecp256k1, SchemeSecp256k1EIP191, SchemeEd25519)
}

// publicKeySize returns the length of public keys on a curve: compressed points (SEC 1),
// or encodings of RFC 8032. It is 0 for an unknown curve.
func publicKeySize(curve Curve) int {
	switch curve {
	case CurveP256, CurveSecp256k1:
		return 33
	case CurveEd25519:
		return 32
	}
	return 0
}
