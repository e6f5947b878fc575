package secp256k1

import "gitlab.com/yawning/secp256k1-voi/secec/bitcoin"

// verifyWithoutRecovery verifies a BIP-340 signature with secp256k1-voi.
func verifyWithoutRecovery(x [32]byte, digest [32]byte, signature [64]byte) bool {
	public, err := bitcoin.NewSchnorrPublicKey(x[:])
	return err == nil && public.Verify(digest[:], signature[:])
}
