package gethoracle

import (
	"crypto/ecdsa"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
)

// Kinds is the number of kinds of transactions that Generate generates: legacy without
// and with chain id, and types 1 to 4.
const Kinds = 6

// Case is a transaction before and after it was signed by go-ethereum.
type Case struct {
	Key      *ecdsa.PrivateKey
	Unsigned []byte
	Signed   []byte
	Tx       *types.Transaction // signed
}

// Generate generates a random valid transaction of a kind, and signs it with
// go-ethereum.
func Generate(random *rand.Rand, kind int) Case {
	g := generator{random}
	key := g.key()
	chainID := 1 + g.uint64()>>1%(1<<62)
	var signer types.Signer = types.LatestSignerForChainID(new(big.Int).SetUint64(chainID))
	if kind == 0 {
		signer = types.HomesteadSigner{}
	}
	tx, err := types.SignNewTx(key, signer, g.data(kind, chainID))
	if err != nil {
		panic(err)
	}
	signed, err := tx.MarshalBinary()
	if err != nil {
		panic(err)
	}
	return Case{Key: key, Unsigned: Unsigned(tx), Signed: signed, Tx: tx}
}

// generator draws values, with a preference for the bounds of their encodings.
type generator struct{ *rand.Rand }

func (g generator) data(kind int, chainID uint64) types.TxData {
	nonce, gas, value, data := min(g.uint64(), math.MaxUint64-1), g.uint64()>>32, g.amount(128), g.bytes(200)
	tip := g.amount(96)
	feeCap := new(uint256.Int).Add(tip, g.amount(96))
	to := g.recipient()
	switch kind {
	case 0, 1:
		return &types.LegacyTx{Nonce: nonce, GasPrice: feeCap.ToBig(), Gas: gas, To: to, Value: value.ToBig(), Data: data}
	case 2:
		return &types.AccessListTx{ChainID: new(big.Int).SetUint64(chainID), Nonce: nonce, GasPrice: feeCap.ToBig(),
			Gas: gas, To: to, Value: value.ToBig(), Data: data, AccessList: g.accessList()}
	case 3:
		return &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(chainID), Nonce: nonce, GasTipCap: tip.ToBig(),
			GasFeeCap: feeCap.ToBig(), Gas: gas, To: to, Value: value.ToBig(), Data: data, AccessList: g.accessList()}
	case 4:
		return &types.BlobTx{ChainID: uint256.NewInt(chainID), Nonce: nonce, GasTipCap: tip, GasFeeCap: feeCap, Gas: gas,
			To: g.address(), Value: value, Data: data, AccessList: g.accessList(), BlobFeeCap: g.amount(96), BlobHashes: g.blobHashes()}
	default:
		return &types.SetCodeTx{ChainID: uint256.NewInt(chainID), Nonce: nonce, GasTipCap: tip, GasFeeCap: feeCap, Gas: gas,
			To: g.address(), Value: value, Data: data, AccessList: g.accessList(), AuthList: g.authorizations(chainID)}
	}
}

// uint64 draws an integer of a random number of bits.
func (g generator) uint64() uint64 {
	bits := g.IntN(65)
	if bits == 0 {
		return 0
	}
	return g.Uint64() >> (64 - bits)
}

func (g generator) amount(bits int) *uint256.Int {
	return new(uint256.Int).SetBytes(g.bytes(bits / 8))
}

// bytes draws up to most bytes, often just one or around 55, where the header
// of a string changes.
func (g generator) bytes(most int) []byte {
	length := g.IntN(most + 1)
	switch g.IntN(4) {
	case 0:
		length = min(most, g.IntN(3))
	case 1:
		length = min(most, 54+g.IntN(4))
	}
	out := make([]byte, length)
	for i := range out {
		out[i] = byte(g.Uint32())
	}
	return out
}

func (g generator) address() (address common.Address) {
	for i := range address {
		address[i] = byte(g.Uint32())
	}
	return address
}

func (g generator) recipient() *common.Address {
	if g.IntN(8) == 0 {
		return nil
	}
	address := g.address()
	return &address
}

func (g generator) hash() common.Hash { return crypto.Keccak256Hash(g.bytes(32)) }

func (g generator) accessList() types.AccessList {
	var list types.AccessList
	for range g.IntN(4) {
		tuple := types.AccessTuple{Address: g.address()}
		for range g.IntN(3) {
			tuple.StorageKeys = append(tuple.StorageKeys, g.hash())
		}
		list = append(list, tuple)
	}
	return list
}

func (g generator) blobHashes() []common.Hash {
	hashes := make([]common.Hash, 1+g.IntN(6))
	for i := range hashes {
		hashes[i] = g.hash()
		hashes[i][0] = 1
	}
	return hashes
}

func (g generator) authorizations(chainID uint64) []types.SetCodeAuthorization {
	list := make([]types.SetCodeAuthorization, 1+g.IntN(3))
	for i := range list {
		signed, err := types.SignSetCode(g.key(), types.SetCodeAuthorization{
			ChainID: *uint256.NewInt(chainID), Address: g.address(), Nonce: g.uint64(),
		})
		if err != nil {
			panic(err)
		}
		list[i] = signed
	}
	return list
}

func (g generator) key() *ecdsa.PrivateKey {
	for {
		var secret [32]byte
		for i := range secret {
			secret[i] = byte(g.Uint32())
		}
		if key, err := crypto.ToECDSA(secret[:]); err == nil {
			return key
		}
	}
}
