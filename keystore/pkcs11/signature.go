package pkcs11

import (
	"crypto/ed25519"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
)

// finishEd25519 verifies a token's signature.
func finishEd25519(public keystore.PublicKey, message, raw []byte) (signature [64]byte, err error) {
	point := public.Ed25519()
	if len(raw) != len(signature) || !ed25519.Verify(point[:], message, raw) {
		return signature, fmt.Errorf("%w: ed25519: it does not verify under the public key", keystore.ErrSignatureCheck)
	}
	return [64]byte(raw), nil
}
