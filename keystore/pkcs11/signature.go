package pkcs11

import (
	"crypto/ed25519"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/keystore"
)

// finishECDSA makes r ‖ s of a token into r ‖ s ‖ v, with s low. Tokens draw s
// from either half, and do not tell v: it is the one with which this very public
// key is recovered. That is the check of the signature, too: with none, no
// signature is returned.
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

// lowerS replaces s by n−s if that is smaller.
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

// finishEd25519 checks the signature of a token.
func finishEd25519(public keystore.PublicKey, message, raw []byte) (signature [64]byte, err error) {
	point := public.Ed25519()
	if len(raw) != len(signature) || !ed25519.Verify(point[:], message, raw) {
		return signature, fmt.Errorf("%w: ed25519: it does not verify under the public key", keystore.ErrSignatureCheck)
	}
	return [64]byte(raw), nil
}
