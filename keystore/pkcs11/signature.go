package pkcs11

import (
	"crypto/ed25519"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/keystore"
)

// finishECDSA turns a token's signature r ‖ s into r ‖ s ‖ v with a low s. Tokens return s in
// either half and no v: v is the recovery id that yields the public key. If there is none,
// the signature does not verify and is not returned.
func finishECDSA(public keystore.PublicKey, digest [32]byte, raw []byte) (signature [65]byte, err error) {
	if len(raw) != 64 {
		return signature, fmt.Errorf("%w: ecdsa: %d bytes, want r and s of 32 each", keystore.ErrSignatureCheck, len(raw))
	}
	copy(signature[:], raw)
	if err := lowerS(signature[32:64]); err != nil {
		return [65]byte{}, err
	}
	want := public.Uncompressed()
	for v := range byte(2) {
		signature[64] = v
		recovered, err := crypto.Ecrecover(digest[:], signature[:])
		if err == nil && [65]byte(recovered) == want {
			return signature, nil
		}
	}
	return [65]byte{}, fmt.Errorf("%w: ecdsa: it does not verify under the public key", keystore.ErrSignatureCheck)
}

// lowerS replaces s by n − s if that is smaller.
func lowerS(s []byte) error {
	var scalar btcec.ModNScalar
	if overflow := scalar.SetByteSlice(s); overflow || scalar.IsZero() {
		return fmt.Errorf("%w: ecdsa: s is not between 1 and the group order", keystore.ErrSignatureCheck)
	}
	if scalar.IsOverHalfOrder() {
		scalar.Negate().PutBytesUnchecked(s)
	}
	return nil
}

// finishEd25519 verifies a token's signature.
func finishEd25519(public keystore.PublicKey, message, raw []byte) (signature [64]byte, err error) {
	point := public.Ed25519()
	if len(raw) != len(signature) || !ed25519.Verify(point[:], message, raw) {
		return signature, fmt.Errorf("%w: ed25519: it does not verify under the public key", keystore.ErrSignatureCheck)
	}
	return [64]byte(raw), nil
}
