package stamp

import (
	"bytes"
	"crypto/sha256"
	"errors"

	"github.com/btcsuite/btcd/btcec/v2"
	btcecdsa "github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/stamp/signer"
)

// Signer stamps requests with an API key, for clients.
type Signer = signer.Signer

// NewSigner is signer.New with all curves: the secret is the big-endian scalar on P-256 and
// secp256k1, the seed on Ed25519.
func NewSigner(curve Curve, secret []byte) (*Signer, error) {
	if curve != CurveSecp256k1 {
		return signer.New(curve, secret)
	}
	if err := signer.CheckSecret(secret); err != nil {
		return nil, err
	}
	point, err := secp256k1.PublicKey(secret)
	if err != nil {
		return nil, errors.New("API key: not a secret key on secp256k1")
	}
	secret = bytes.Clone(secret)
	return signer.Of(SchemeSecp256k1, signer.Compress(point), func(body []byte) ([]byte, error) {
		signature, err := secp256k1.SignECDSA(sha256.Sum256(body), secret)
		if err != nil {
			return nil, err
		}
		return derSignature(signature), nil
	}), nil
}

// derSignature returns r and s as an ASN.1 sequence (RFC 3279, section 2.2.3).
func derSignature(signature [65]byte) []byte {
	var r, s btcec.ModNScalar
	r.SetByteSlice(signature[:32])
	s.SetByteSlice(signature[32:64])
	return btcecdsa.NewSignature(&r, &s).Serialize()
}
