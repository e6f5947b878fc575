// Package signer stamps requests with API keys, for clients. It links the curves of the
// standard library, P-256 and Ed25519, and nothing of a server. stamp.NewSigner also makes
// signers on secp256k1, [Of] those whose key is elsewhere.
package signer

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/internal/secret"
)

// Scheme is the signature scheme of a stamp.
type Scheme string

// The schemes of API keys.
const (
	SchemeP256            Scheme = "SIGNATURE_SCHEME_TK_API_P256"
	SchemeSecp256k1       Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1"
	SchemeSecp256k1EIP191 Scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"
	SchemeEd25519         Scheme = "SIGNATURE_SCHEME_TK_API_ED25519"
)

// Curve is the curve of an API key.
type Curve string

// The curves of API keys.
const (
	CurveP256      Curve = "API_KEY_CURVE_P256"
	CurveSecp256k1 Curve = "API_KEY_CURVE_SECP256K1"
	CurveEd25519   Curve = "API_KEY_CURVE_ED25519"
)

// HeaderAPIKey is the header of a stamp by an API key.
const HeaderAPIKey = "X-Stamp"

// Header is a stamp as sent.
type Header struct {
	Name  string `json:"header"` // X-Stamp or X-Stamp-Webauthn, in any case
	Value string `json:"value"`
}

// Signer stamps requests with an API key. It is safe for concurrent use if its key is.
type Signer struct {
	scheme    Scheme
	publicKey []byte
	sign      func(body []byte) ([]byte, error)
}

// New returns a signer with an API key's secret of 32 bytes: the big-endian scalar on P-256,
// the seed on Ed25519. The secret is copied.
func New(curve Curve, key []byte) (*Signer, error) {
	if err := CheckSecret(key); err != nil {
		return nil, err
	}
	switch curve {
	case CurveP256:
		return newP256(key)
	case CurveEd25519:
		private := ed25519.NewKeyFromSeed(key)
		return Of(SchemeEd25519, private[32:], func(body []byte) ([]byte, error) {
			return ed25519.Sign(private, body),
				nil
		}), nil
	case CurveSecp256k1:
		return nil, fmt.Errorf("API key: %s is not linked: use stamp.NewSigner", curve)
	}
	return nil, fmt.Errorf("API key: unknown curve %q: use %s, %s or %s", curve, CurveP256, CurveSecp256k1,
		CurveEd25519)
}

// CheckSecret returns an error if a secret has another length than those of API keys.
func CheckSecret(key []byte) error {
	if len(key) != secret.Size {
		return fmt.Errorf("API key: a secret of %d bytes, want %d", len(key), secret.Size)
	}
	return nil
}

func newP256(secret []byte) (*Signer, error) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
	if err != nil {
		return nil, errors.New("API key: not a secret key on P-256")
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("API key: %w", err)
	}
	return Of(SchemeP256, Compress([65]byte(point)), func(body []byte) ([]byte, error) {
		digest := sha256.Sum256(body)
		return ecdsa.SignASN1(rand.Reader, key, digest[:])
	}), nil
}

// Compress returns the compressed form (SEC 1) of an uncompressed point.
func Compress(point [65]byte) []byte { return append([]byte{2 + point[64]&1}, point[1:33]...) }

// Of returns a signer that has sign make the signature of a body, in the encoding of the
// scheme. The public key is as stamp.NewAPIKey expects it.
func Of(scheme Scheme, publicKey []byte, sign func(body []byte) ([]byte, error)) *Signer {
	return &Signer{scheme, publicKey, sign}
}

// PublicKey returns the public key in the form that stamp.NewAPIKey expects.
func (s *Signer) PublicKey() []byte { return append([]byte(nil), s.publicKey...) }

// Stamp returns the header for a request with exactly this body.
func (s *Signer) Stamp(body []byte) (Header, error) {
	signature, err := s.sign(body)
	if err != nil {
		return Header{}, fmt.Errorf("stamp: %w", err)
	}
	text := fmt.Sprintf(`{"publicKey":"%x","scheme":"%s","signature":"%x"}`, s.publicKey, s.scheme, signature)
	return Header{Name: HeaderAPIKey, Value: base64.RawURLEncoding.EncodeToString([]byte(text))}, nil
}
