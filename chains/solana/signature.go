package solana

import (
	"crypto/ed25519"

	"github.com/countersign-dev/countersign/internal/edwards25519"
)

// verifyStrict verifies a signature as the network's nodes do (verify_strict of
// ed25519-dalek). It also refuses a public key or an R of small order: with these, one
// signature can be valid for many messages.
func verifyStrict(key, message, signature []byte) bool {
	return !edwards25519.SmallOrder(key) && !edwards25519.SmallOrder(signature[:32]) &&
		ed25519.Verify(key, message, signature)
}
