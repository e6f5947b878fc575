package stamp

import "fmt"

// Scheme is the signature scheme of a stamp.
type Scheme string

// The schemes of the API.
const (
	SchemeP256            Scheme = "SIGNATURE_SCHEME_TK_API_P256"
	SchemeSecp256k1       Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1"
	SchemeSecp256k1EIP191 Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"
	SchemeEd25519         Scheme = "SIGNATURE_SCHEME_TK_API_ED25519"
	SchemeWebAuthn        Scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN"
)

// Curve is the curve of an API key.
type Curve string

// The curves of API keys.
const (
	CurveP256      Curve = "API_KEY_CURVE_P256"
	CurveSecp256k1 Curve = "API_KEY_CURVE_SECP256K1"
	CurveEd25519   Curve = "API_KEY_CURVE_ED25519"
)

// curve returns the curve of an API key's scheme.
func (s Scheme) curve() (Curve, error) {
	switch s {
	case SchemeP256:
		return CurveP256, nil
	case SchemeSecp256k1, SchemeSecp256k1EIP191:
		return CurveSecp256k1, nil
	case SchemeEd25519:
		return CurveEd25519, nil
	}
	return "", fmt.Errorf("%w: unknown scheme %.64q: use %s, %s, %s or %s", ErrMalformed, string(s),
		SchemeP256, SchemeSecp256k1, SchemeSecp256k1EIP191, SchemeEd25519)
}

// publicKeySize returns the length of public keys on the curve: compressed points (SEC 1),
// or encodings of RFC 8032. It is 0 for an unknown curve.
func (c Curve) publicKeySize() int {
	switch c {
	case CurveP256, CurveSecp256k1:
		return 33
	case CurveEd25519:
		return 32
	}
	return 0
}
