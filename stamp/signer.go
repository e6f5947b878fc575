package stamp

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	btcecdsa "github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// Signer stamps requests with an API key, for clients.
type Signer struct {
	scheme    Scheme
	publicKey []byte
	sign      func(body []byte) ([]byte, error)
}

// NewSigner returns a signer with an API key's secret of 32 bytes: the big-endian scalar
// on P-256 and secp256k1, the seed on Ed25519. The secret is copied.
func NewSigner(curve Curve, secret []byte) (*Signer, error) {
	if len(secret) != 32 {
		return nil, fmt.Errorf("API key: a secret of %d bytes, want 32", len(secret))
	}
	switch curve {
	case CurveP256:
		return newP256Signer(secret)
	case CurveSecp256k1:
		return newSecp256k1Signer(secret)
	case CurveEd25519:
		key := ed25519.NewKeyFromSeed(secret)
		return &Signer{
			scheme: SchemeEd25519, publicKey: key[32:],
			sign: func(body []byte) ([]byte, error) { return ed25519.Sign(key, body), nil },
		}, nil
	}
	return nil, fmt.Errorf("API key: unknown curve %q: use %s, %s or %s", curve, CurveP256, CurveSecp256k1, CurveEd25519)
}

func newP256Signer(secret []byte) (*Signer, error) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
	if err != nil {
		return nil, errors.New("API key: not a secret key on P-256")
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("API key: %w", err)
	}
	return &Signer{
		scheme: SchemeP256, publicKey: append([]byte{2 + point[64]&1}, point[1:33]...),
		sign: func(body []byte) ([]byte, error) {
			digest := sha256.Sum256(body)
			return ecdsa.SignASN1(rand.Reader, key, digest[:])
		},
	}, nil
}

func newSecp256k1Signer(secret []byte) (*Signer, error) {
	point, err := secp256k1.PublicKey(secret)
	if err != nil {
		return nil, errors.New("API key: not a secret key on secp256k1")
	}
	secret = bytes.Clone(secret)
	return &Signer{
		scheme: SchemeSecp256k1, publicKey: append([]byte{2 + point[64]&1}, point[1:33]...),
		sign: func(body []byte) ([]byte, error) {
			signature, err := secp256k1.SignECDSA(sha256.Sum256(body), secret)
			if err != nil {
				return nil, err
			}
			return derSignature(signature), nil
		},
	}, nil
}

// derSignature returns r and s as an ASN.1 sequence (RFC 3279, section 2.2.3).
func derSignature(signature [65]byte) []byte {
	var r, s btcec.ModNScalar
	r.SetByteSlice(signature[:32])
	s.SetByteSlice(signature[32:64])
	return btcecdsa.NewSignature(&r, &s).Serialize()
}

// PublicKey returns the public key in the form that [NewAPIKey] expects.
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
