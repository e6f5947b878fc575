package keystore

import (
	"crypto/ed25519"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// FinishECDSA turns the signature of a backend (an HSM, a KMS) into what
// [ECDSASigner] returns: r ‖ s ‖ v, with a low s and the recovery id v that yields exactly
// this public key. Backends return s in either half and no v. A signature that does not
// verify is ErrSignatureCheck, as is anything else that the backend sent instead of one.
//
// The signature has one of two forms:
//
//	r ‖ s            64 bytes, each half big-endian      PKCS#11, Azure
//	DER of r and s   SEQUENCE { INTEGER, INTEGER }       AWS, Google, OpenSSL
//
// DER must be canonical (no long lengths, nothing negative, nothing after it), but for one
// deviation: an integer may have unnecessary leading zeros, up to 33 bytes in all, because
// devices pad them to a fixed length. They change nothing that leaves this function.
func FinishECDSA(public PublicKey, digest [32]byte, signature []byte) ([65]byte, error) {
	if public.curve != CurveSecp256k1 {
		return [65]byte{}, fmt.Errorf("%w: ecdsa: the public key is not on secp256k1", ErrSignatureCheck)
	}
	var rs [64]byte
	var sequence cryptobyte.String
	der := cryptobyte.String(signature)
	isDER := der.ReadASN1(&sequence, asn1.SEQUENCE) && der.Empty() &&
		readScalar(&sequence, rs[:32]) && readScalar(&sequence, rs[32:]) && sequence.Empty()
	if len(signature) == 64 {
		// 64 bytes may also be DER with short integers: the one that verifies is meant.
		finished, err := finishRS(public, digest, [64]byte(signature))
		if err == nil || !isDER {
			return finished, err
		}
	}
	if !isDER {
		return [65]byte{}, fmt.Errorf("%w: ecdsa: %d bytes, want r and s of 32 each, or their DER", ErrSignatureCheck,
			len(signature))
	}
	return finishRS(public, digest, rs)
}

// FinishEd25519 returns the signature of a backend, which must verify: otherwise it is
// ErrSignatureCheck.
func FinishEd25519(public PublicKey, message, signature []byte) (verified [64]byte, err error) {
	point := public.Ed25519()
	if len(signature) != len(verified) || !ed25519.Verify(point[:], message, signature) {
		return verified, fmt.Errorf("%w: ed25519: it does not verify under the public key", ErrSignatureCheck)
	}
	return [64]byte(signature), nil
}

// finishRS lowers s and finds v.
func finishRS(public PublicKey, digest [32]byte, rs [64]byte) (signature [65]byte, err error) {
	copy(signature[:], rs[:])
	var s secp256k1.ModNScalar
	if overflow := s.SetByteSlice(rs[32:]); overflow || s.IsZero() {
		return [65]byte{}, fmt.Errorf("%w: ecdsa: s is not between 1 and the group order", ErrSignatureCheck)
	}
	if s.IsOverHalfOrder() {
		s.Negate().PutBytesUnchecked(signature[32:64])
	}
	for v := range byte(2) {
		signature[64] = v
		recovered, err := crypto.Ecrecover(digest[:], signature[:])
		if err == nil && [65]byte(recovered) == public.point {
			return signature, nil
		}
	}
	return [65]byte{}, fmt.Errorf("%w: ecdsa: it does not verify under the public key", ErrSignatureCheck)
}

// readScalar reads an INTEGER of at most 33 bytes that fits 32.
func readScalar(from *cryptobyte.String, into []byte) bool {
	var content cryptobyte.String
	if !from.ReadASN1(&content, asn1.INTEGER) || len(content) == 0 || len(content) > 33 || content[0]&0x80 != 0 {
		return false
	}
	if len(content) == 33 {
		if content[0] != 0 {
			return false
		}
		content = content[1:]
	}
	copy(into[32-len(content):], content)
	return true
}
