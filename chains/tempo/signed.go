package tempo

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"
	ethrlp "github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/rlp"
)

// The indexes of feeToken and feePayer in the items of a transaction.
const (
	itemFeeToken = 10
	itemFeePayer = 11
)

// Unsign is that of chains.Forms: it removes the sender's signature, the last item. The
// signer is recovered from a secp256k1 signature; for other kinds it is not reported.
func (Chain) Unsign(raw []byte) (unsigned []byte, signers []string, signed bool, err error) {
	if len(raw) == 0 || raw[0] != typeTempo {
		return nil, nil, false, nil
	}
	items, err := rlp.Items(raw[1:])
	if err != nil || len(items) == 0 {
		return nil, nil, false, nil //nolint:nilerr // Parse says what is wrong
	}
	form, signature, _, err := ethrlp.Split(items[len(items)-1])
	if err != nil || form != ethrlp.String || len(signature) < sizeSecp256k1 {
		return nil, nil, false, nil //nolint:nilerr // the same
	}
	items = items[:len(items)-1]
	unsigned = rlp.AppendList([]byte{typeTempo}, items...)
	if len(signature) != sizeSecp256k1 {
		return unsigned, nil, true, nil
	}
	plain := bytes.Clone(signature)
	if plain[64] >= 27 {
		plain[64] -= 27
	}
	if len(items) > itemFeePayer && !bytes.Equal(items[itemFeePayer], ethrlp.EmptyString) {
		items = slices.Clone(items) // of which the sender signs these two if another account pays the fee
		items[itemFeeToken], items[itemFeePayer] = ethrlp.EmptyString, []byte{0}
	}
	key, err := crypto.SigToPub(crypto.Keccak256(rlp.AppendList([]byte{typeTempo}, items...)), plain)
	if err != nil {
		return nil, nil, true, fmt.Errorf("tempo: this transaction is signed, but its signature is not one that "+
			"any key can make: %w", err)
	}
	return unsigned, []string{crypto.PubkeyToAddress(*key).Hex()}, true, nil
}
