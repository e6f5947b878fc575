package stamp

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"

	"github.com/fxamacker/cbor/v2"
)

// COSEKeyFromSPKI converts a SubjectPublicKeyInfo (RFC 5280) in DER, which
// AuthenticatorAttestationResponse.getPublicKey() returns in a browser, to a COSE key for
// [NewPasskey]. Keys on P-256 become ES256, RSA keys RS256, and Ed25519 keys EdDSA.
func COSEKeyFromSPKI(der []byte) ([]byte, error) {
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("SPKI: %w", err)
	}
	var members map[int]any // as listed at coseKey
	switch key := parsed.(type) {
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil || key.Curve != elliptic.P256() {
			return nil, errors.New("SPKI: expected an elliptic-curve key on P-256")
		}
		members = map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]}
	case ed25519.PublicKey:
		members = map[int]any{1: 1, 3: -8, -1: 6, -2: []byte(key)}
	case *rsa.PublicKey:
		members = map[int]any{1: 3, 3: -257, -1: key.N.Bytes(), -2: big.NewInt(int64(key.E)).Bytes()}
	default:
		return nil, fmt.Errorf("SPKI: expected an ECDSA key on P-256, an RSA key or an Ed25519 key, not a %T", key)
	}
	mode, err := cbor.CTAP2EncOptions().EncMode()
	if err != nil {
		return nil, err
	}
	encoded, err := mode.Marshal(members)
	if err != nil {
		return nil, err
	}
	if _, err := parseCOSEKey(encoded); err != nil {
		return nil, err
	}
	return encoded, nil
}
