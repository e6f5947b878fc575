package stamp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	secp256k1 "github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/countersign-dev/countersign/internal/edwards25519"
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

func newVerifier(curve Curve, publicKey []byte) (verifier, error) {
	switch curve {
	case CurveP256:
		return newP256Key(publicKey)
	case CurveSecp256k1:
		point, err := secp256k1.DecompressPubkey(publicKey)
		if err != nil {
			return nil, errors.New("not a point on the curve")
		}
		return secp256k1Key(secp256k1.FromECDSAPub(point)), nil
	case CurveEd25519:
		if edwards25519.SmallOrder(publicKey) {
			return nil, errors.New("a point of small order: anyone could sign under it")
		}
		return ed25519Key(publicKey), nil
	}
	return nil, errors.New("unknown curve")
}

func newP256Key(compressed []byte) (verifier, error) {
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), compressed)
	if x == nil {
		return nil, errors.New("not a point on the curve")
	}
	point := make([]byte, 65)
	point[0] = 4
	x.FillBytes(point[1:33])
	y.FillBytes(point[33:])
	pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, err
	}
	return p256Key{pub}, nil
}

// p256Key verifies ECDSA on P-256 over SHA-256 of the message, in DER.
type p256Key struct{ pub *ecdsa.PublicKey }

func (k p256Key) verify(_ Scheme, message, signature []byte) bool {
	digest := sha256.Sum256(message)
	return ecdsa.VerifyASN1(k.pub, digest[:], signature)
}

// ed25519Key verifies Ed25519 over the message (RFC 8032, without a context).
type ed25519Key ed25519.PublicKey

func (k ed25519Key) verify(_ Scheme, message, signature []byte) bool {
	return ed25519.Verify(ed25519.PublicKey(k), message, signature)
}

// rsaKey verifies RSASSA-PKCS1-v1_5 over SHA-256 of the message (RS256).
type rsaKey struct{ pub *rsa.PublicKey }

func (k rsaKey) verify(_ Scheme, message, signature []byte) bool {
	digest := sha256.Sum256(message)
	return rsa.VerifyPKCS1v15(k.pub, crypto.SHA256, digest[:], signature) == nil
}

// secp256k1Key verifies ECDSA on secp256k1, in DER, over the digest of the scheme. It is
// an uncompressed point.
type secp256k1Key []byte

func (k secp256k1Key) verify(scheme Scheme, message, signature []byte) bool {
	raw, ok := rawLowS(signature)
	if !ok {
		return false
	}
	if scheme == SchemeSecp256k1EIP191 {
		prefix := "\x19Ethereum Signed Message:\n" + strconv.Itoa(len(message))
		return secp256k1.VerifySignature(k, secp256k1.Keccak256([]byte(prefix), message), raw[:])
	}
	digest := sha256.Sum256(message)
	return secp256k1.VerifySignature(k, digest[:], raw[:])
}

var (
	secp256k1Order     = secp256k1.S256().Params().N
	secp256k1HalfOrder = new(big.Int).Rsh(secp256k1Order, 1)
)

// rawLowS converts a DER signature,
//
//	SEQUENCE { r INTEGER, s INTEGER }
//
// to r ‖ s with the lower of the two valid s, which is all that libsecp256k1 accepts.
func rawLowS(der []byte) (raw [64]byte, ok bool) {
	var inner cryptobyte.String
	var r, s big.Int
	input := cryptobyte.String(der)
	if !input.ReadASN1(&inner, asn1.SEQUENCE) || !input.Empty() ||
		!inner.ReadASN1Integer(&r) || !inner.ReadASN1Integer(&s) || !inner.Empty() {
		return raw, false
	}
	for _, scalar := range []*big.Int{&r, &s} {
		if scalar.Sign() <= 0 || scalar.Cmp(secp256k1Order) >= 0 {
			return raw, false
		}
	}
	if s.Cmp(secp256k1HalfOrder) > 0 {
		s.Sub(secp256k1Order, &s)
	}
	r.FillBytes(raw[:32])
	s.FillBytes(raw[32:])
	return raw, true
}
