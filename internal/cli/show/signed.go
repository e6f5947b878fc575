package show

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// typeTempo is the first byte of a Tempo transaction.
const typeTempo = 0x76

// withoutSignature removes the signature from a transaction of a chain whose unsigned
// transactions have none. It also returns the signer, the address that the signature
// recovers to. isSigned is false if raw is not a signed transaction.
func withoutSignature(kind activity.TransactionType, raw []byte) (unsigned []byte, signers []string, isSigned bool, err error) {
	switch {
	case kind == activity.TransactionTypeEthereum:
		return withoutEthereum(raw)
	case kind == activity.TransactionTypeTempo && len(raw) > 0 && raw[0] == typeTempo:
		return withoutTempo(raw)
	}
	return nil, nil, false, nil
}

// withoutEthereum removes v, r and s. All other items stay unchanged, byte for byte.
func withoutEthereum(raw []byte) (unsigned []byte, signers []string, isSigned bool, err error) {
	var tx types.Transaction
	if tx.UnmarshalBinary(raw) != nil {
		return nil, nil, false, nil //nolint:nilerr // the chain's reader reports what is wrong
	}
	if _, r, s := tx.RawSignatureValues(); r == nil || s == nil || r.Sign() == 0 || s.Sign() == 0 {
		return nil, nil, false, nil
	}
	var by types.Signer = types.HomesteadSigner{}
	if tx.Protected() {
		by = types.LatestSignerForChainID(tx.ChainId())
	}
	sender, err := types.Sender(by, &tx)
	if err != nil {
		return nil, nil, true, fmt.Errorf("ethereum: this transaction is signed, but its signature does not verify: %w", err)
	}
	var prefix []byte
	list := raw
	if tx.Type() != types.LegacyTxType {
		prefix, list = raw[:1], raw[1:]
	}
	items, err := itemsOf(list)
	if err != nil {
		return nil, nil, true, err
	}
	if tx.Type() == types.BlobTxType && len(items) > 0 && items[0][0] >= 0xc0 { // with its blobs
		if items, err = itemsOf(items[0]); err != nil {
			return nil, nil, true, err
		}
	}
	items = items[:len(items)-3]
	if tx.Type() == types.LegacyTxType && tx.Protected() { // EIP-155
		id, err := rlp.EncodeToBytes(tx.ChainId())
		if err != nil {
			return nil, nil, true, err
		}
		items = append(items, id, rlp.EmptyString, rlp.EmptyString)
	}
	body, err := rlp.EncodeToBytes(items)
	return append(append([]byte(nil), prefix...), body...), []string{sender.Hex()}, true, err
}

// The indexes of feeToken and feePayer in the items of a Tempo transaction.
const (
	tempoFeeToken = 10
	tempoFeePayer = 11
)

// tempoPreimage returns what a sender signs: the items, with feeToken 80 and feePayer 00 if
// another account pays the fee.
func tempoPreimage(items []rlp.RawValue) ([]byte, error) {
	signed := slices.Clone(items)
	if len(signed) > tempoFeePayer && !bytes.Equal(signed[tempoFeePayer], rlp.EmptyString) {
		signed[tempoFeeToken], signed[tempoFeePayer] = rlp.EmptyString, rlp.RawValue{0}
	}
	body, err := rlp.EncodeToBytes(signed)
	return append([]byte{typeTempo}, body...), err
}

// withoutTempo removes the sender's signature, the last item. The signer is recovered from
// a secp256k1 signature of 65 bytes; for other kinds it is not reported.
func withoutTempo(raw []byte) (unsigned []byte, signers []string, isSigned bool, err error) {
	items, err := itemsOf(raw[1:])
	if err != nil || len(items) == 0 {
		return nil, nil, false, nil //nolint:nilerr // the chain's reader reports what is wrong
	}
	form, signature, _, err := rlp.Split(items[len(items)-1])
	if err != nil || form != rlp.String || len(signature) < 65 {
		return nil, nil, false, nil //nolint:nilerr // the same
	}
	body, err := rlp.EncodeToBytes(items[:len(items)-1])
	if err != nil {
		return nil, nil, true, err
	}
	unsigned = append([]byte{typeTempo}, body...)
	if len(signature) != 65 {
		return unsigned, nil, true, nil
	}
	plain := append([]byte(nil), signature...)
	if plain[64] >= 27 {
		plain[64] -= 27
	}
	preimage, err := tempoPreimage(items[:len(items)-1])
	if err != nil {
		return nil, nil, true, err
	}
	key, err := crypto.SigToPub(crypto.Keccak256(preimage), plain)
	if err != nil {
		return nil, nil, true, fmt.Errorf("tempo: this transaction is signed, but its signature is not one that any key can make: %w", err)
	}
	return unsigned, []string{crypto.PubkeyToAddress(*key).Hex()}, true, nil
}

// itemsOf returns the items of an RLP list, headers included.
func itemsOf(list []byte) (items []rlp.RawValue, err error) {
	content, rest, err := rlp.SplitList(list)
	if err != nil || len(rest) > 0 {
		return nil, errors.Join(err, errors.New("not one RLP list"))
	}
	for len(content) > 0 {
		_, _, after, err := rlp.Split(content)
		if err != nil {
			return nil, err
		}
		items = append(items, rlp.RawValue(content[:len(content)-len(after)]))
		content = after
	}
	return items, nil
}

// SignersIn returns the addresses that a summary shows as having signed. On Tron they are
// recovered from the signatures; on Solana the signatures are verified.
func SignersIn(fields []chains.Field) (signers []string) {
	for i := range fields {
		field := &fields[i]
		switch {
		case field.Label == "signed by":
			signers = append(signers, field.Value)
		case strings.HasPrefix(field.Label, "signer ") && strings.HasPrefix(field.Note, signedNote):
			signers = append(signers, field.Value)
		case field.Label == "signers":
			signers = append(signers, SignersIn(field.Fields)...)
		}
	}
	return signers
}

// signedNote begins the note of a signer in Solana's summary whose signature is present.
const signedNote = "signed"
