package sign

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

// printSolanaSignatures prints the signatures that were added to the message of a Solana
// transaction, one line each: PUBKEY=SIGNATURE, both in base58, as 'solana --signer' takes
// them.
func printSolanaSignatures(out io.Writer, read show.Written, signed []byte) error {
	unsigned, err := hex.DecodeString(read.Text)
	if err != nil {
		return err
	}
	added, err := newSignatures(unsigned, signed)
	if err != nil {
		return err
	}
	seen, err := all.Inspect(activity.TransactionTypeSolana, hex.EncodeToString(signed), all.Limits{})
	if err != nil {
		return err
	}
	for _, signature := range added {
		signer, err := signerAmong(show.SignersIn(seen.Summary.Fields), read.Message, signature)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s=%s\n", signer, base58.Encode(signature)); err != nil {
			return err
		}
	}
	return nil
}

func signerAmong(addresses []string, message, signature []byte) (string, error) {
	for _, address := range addresses {
		if key := base58.Decode(address); len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, signature) {
			return address, nil
		}
	}
	return "", fmt.Errorf("signature %s is of no signer of the transaction", base58.Encode(signature))
}
