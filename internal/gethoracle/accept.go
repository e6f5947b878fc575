// Package gethoracle reports how go-ethereum handles an Ethereum transaction, so that
// tests, fuzz targets and benchmarks can compare the reader and signer of package
// ethereum with it. It shares no code with them. Only tests import it.
package gethoracle

import (
	"errors"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rlp"
)

// Refuses returns why the raw unsigned transaction must be refused, or nil:
// go-ethereum's decoder refuses it, or it breaks a rule that the decoder leaves to
// others and a signer must not.
func Refuses(raw []byte) error {
	if len(raw) == 0 {
		return errors.New("empty")
	}
	if raw[0] >= 0xc0 {
		return refusesLegacy(raw)
	}
	return refusesTyped(raw)
}

var itemsOfType = map[byte]int{
	types.AccessListTxType: 8,
	types.DynamicFeeTxType: 9,
	types.BlobTxType:       11,
	types.SetCodeTxType:    10,
}

func refusesTyped(raw []byte) error {
	content, rest, err := rlp.SplitList(raw[1:])
	if err != nil || len(rest) > 0 {
		return errors.New("not one list behind the type")
	}
	count, err := rlp.CountValues(content)
	if err != nil {
		return err
	}
	if want, known := itemsOfType[raw[0]]; known && count == want {
		content = append(append([]byte{}, content...), 0x80, 0x80, 0x80)
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(append([]byte{raw[0]}, List(content)...)); err != nil {
		return err
	}
	if v, r, s := tx.RawSignatureValues(); v.Sign() != 0 || r.Sign() != 0 || s.Sign() != 0 {
		return errors.New("signed")
	}
	if tx.ChainId().Sign() == 0 || !tx.ChainId().IsUint64() {
		return errors.New("chain id 0 or over 64 bits")
	}
	return errors.Join(refusesNumbers(&tx), refusesLists(&tx))
}

func refusesLegacy(raw []byte) error {
	content, rest, err := rlp.SplitList(raw)
	if err != nil || len(rest) > 0 {
		return errors.New("not one list")
	}
	count, err := rlp.CountValues(content)
	if err != nil {
		return err
	}
	if count == 6 {
		content = append(append([]byte{}, content...), 0x80, 0x80, 0x80)
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(List(content)); err != nil {
		return err
	}
	v, r, s := tx.RawSignatureValues()
	most := new(big.Int).SetUint64((math.MaxUint64 - 36) / 2)
	switch {
	case r.Sign() != 0 || s.Sign() != 0:
		return errors.New("signed")
	case count == 9 && (v.Sign() == 0 || v.Cmp(most) > 0):
		return errors.New("chain id 0, or so large that v is over 64 bits")
	}
	return refusesNumbers(&tx)
}

// refusesNumbers checks the bounds that go-ethereum checks when a transaction comes to
// its pool or into a block.
func refusesNumbers(tx *types.Transaction) error {
	cost := new(big.Int).Mul(new(big.Int).SetUint64(tx.Gas()), tx.GasFeeCap())
	cost.Add(cost, tx.Value())
	if tx.Type() == types.BlobTxType {
		cost.Add(cost, new(big.Int).Mul(new(big.Int).SetUint64(tx.BlobGas()), tx.BlobGasFeeCap()))
	}
	switch {
	case tx.Nonce() == math.MaxUint64:
		return errors.New("nonce 2^64−1 (EIP-2681)")
	case tx.GasFeeCap().BitLen() > 256 || tx.GasTipCap().BitLen() > 256 || tx.Value().BitLen() > 256:
		return errors.New("a fee or the value is over 256 bits")
	case tx.GasTipCap().Cmp(tx.GasFeeCap()) > 0:
		return errors.New("tip over cap")
	case cost.BitLen() > 256:
		return errors.New("the cost is over 256 bits")
	}
	return nil
}

// refusesLists checks the rules for blobs (EIP-4844, EIP-7594) and authorizations
// (EIP-7702).
func refusesLists(tx *types.Transaction) error {
	hashes := tx.BlobHashes()
	switch {
	case tx.Type() == types.SetCodeTxType && len(tx.SetCodeAuthorizations()) == 0:
		return errors.New("no authorizations")
	case tx.Type() == types.BlobTxType && (len(hashes) == 0 || len(hashes) > params.BlobTxMaxBlobs):
		return errors.New("no blobs, or too many")
	}
	for _, hash := range hashes {
		if hash[0] != 1 {
			return errors.New("a blob hash of another version")
		}
	}
	return nil
}
