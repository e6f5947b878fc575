package stamp

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

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
		var der cryptobyte.Builder // r and s as an ASN.1 sequence (RFC 3279, section 2.2.3)
		der.AddASN1(asn1.SEQUENCE, func(sequence *cryptobyte.Builder) {
			sequence.AddASN1BigInt(new(big.Int).SetBytes(signature[:32]))
			sequence.AddASN1BigInt(new(big.Int).SetBytes(signature[32:64]))
		})
		return der.Bytes()
	}), nil
}
