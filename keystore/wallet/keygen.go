package wallet

import (
	"bytes"

	"github.com/countersign-dev/countersign/keystore"
)

// SolanaKeygen returns the Ed25519 seed that solana-keygen makes of its words when no
// derivation path is named: the first keystore.SecretSize bytes of [Seed]. The caller
// wipes it.
func SolanaKeygen(mnemonic, passphrase []byte) ([]byte, error) {
	seed, err := Seed(mnemonic, passphrase)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(seed)
	return bytes.Clone(seed[:keystore.SecretSize]), nil
}
