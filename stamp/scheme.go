package stamp

import "fmt"

// Scheme is how a stamp was made.
type Scheme string

// The schemes of the API.
const (
	SchemeP256            Scheme = "SIGNATURE_SCHEME_TK_API_P256"
	SchemeSecp256k1       Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1"
	SchemeSecp256k1EIP191 Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"
	SchemeEd25519         Scheme = "SIGNATURE_SCHEME_TK_API_ED25519"
	SchemeWebAuthn        Scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN"
)

// Curve is what an API key is on.
type Curve string

// The curves of API keys.
const (
	CurveP256      Curve = "API_KEY_CURVE_P256"
	CurveSecp256k1 Curve = "API_KEY_CURVE_SECP256K1"
	CurveEd25519   Curve = "API_KEY_CURVE_ED25519"
)

// curve returns the curve that a scheme of API keys signs on.
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

// publicKeySize is the length of a curve's keys: a compressed point (SEC 1), or
// the encoding of RFC 8032.
func (c Curve) publicKeySize() int {
	switch c {
	case CurveP256, CurveSecp256k1:
		return 33
	case CurveEd25519:
		return 32
	}
	return 0
}
