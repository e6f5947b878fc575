package workload

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/keystore"
)

// tokenCalldata is the length of the calldata of an ERC-20 transfer.
const tokenCalldata = 68

// EthereumChainID is the chain id of all transactions.
var EthereumChainID = big.NewInt(1)

func ethereumKind(name string, make func(number int) types.TxData) Kind {
	return Kind{Chain: "ethereum", Type: name, Transaction: func(number int, _ keystore.PublicKey) []byte {
		return gethoracle.Unsigned(types.NewTx(make(number)))
	}}
}

// DynamicFeeTransfer returns the EIP-1559 token transfer with a number.
func DynamicFeeTransfer(number int) types.TxData { return dynamicFee(number, tokenCalldata) }

// draw makes the random parts of one transaction, the same in every run.
type draw struct{ *rand.Rand }

func drawing(number int) draw { return draw{rand.New(rand.NewPCG(7, uint64(number)))} }

func (d draw) bytes(size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(d.Uint32())
	}
	return out
}

// calldata returns random calldata of a length. Of the length of an ERC-20 transfer, it is
// one.
func (d draw) calldata(length int) []byte {
	if length != tokenCalldata {
		return d.bytes(length)
	}
	call := append([]byte{0xa9, 0x05, 0x9c, 0xbb}, make([]byte, 12)...)
	call = append(append(call, d.bytes(20)...), make([]byte, 24)...)
	return append(call, d.bytes(8)...)
}

func (d draw) address() common.Address { return common.Address(d.bytes(20)) }

func dynamicFee(number, calldata int) types.TxData {
	d := drawing(number)
	to := d.address()
	return &types.DynamicFeeTx{
		ChainID: EthereumChainID, Nonce: uint64(number), GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e10),
		Gas: 100_000, To: &to, Value: new(big.Int), Data: d.calldata(calldata),
	}
}

func legacyTransfer(number int) types.TxData {
	d := drawing(number)
	to := d.address()
	// gethoracle.Unsigned takes the chain id of a legacy transaction from its v.
	return &types.LegacyTx{
		Nonce: uint64(number), GasPrice: big.NewInt(2e10), Gas: 100_000, To: &to, Value: new(big.Int),
		Data: d.calldata(tokenCalldata), V: big.NewInt(37), R: big.NewInt(1), S: big.NewInt(1),
	}
}

func (d draw) accessList() types.AccessList {
	return types.AccessList{{Address: d.address(), StorageKeys: []common.Hash{crypto.Keccak256Hash(d.bytes(8)),
		crypto.Keccak256Hash(d.bytes(8))}}}
}

func accessListTransfer(number int) types.TxData {
	d := drawing(number)
	to := d.address()
	return &types.AccessListTx{
		ChainID: EthereumChainID, Nonce: uint64(number), GasPrice: big.NewInt(2e10), Gas: 100_000, To: &to,
		Value: new(big.Int), Data: d.calldata(tokenCalldata), AccessList: d.accessList(),
	}
}

func blobTransfer(number int) types.TxData {
	d := drawing(number)
	hash := crypto.Keccak256Hash(d.bytes(8))
	hash[0] = 1 // the version of a KZG commitment
	return &types.BlobTx{
		ChainID: uint256.MustFromBig(EthereumChainID), Nonce: uint64(number), GasTipCap: uint256.NewInt(1e9),
		GasFeeCap: uint256.NewInt(2e10), Gas: 100_000, To: d.address(), Value: new(uint256.Int),
		BlobFeeCap: uint256.NewInt(1e9), BlobHashes: []common.Hash{hash},
	}
}

func setCodeTransfer(number int) types.TxData {
	d := drawing(number)
	authority, err := crypto.ToECDSA(Secret(number + 1)) // not the signer's account
	if err != nil {
		panic(err)
	}
	authorization, err := types.SignSetCode(authority, types.SetCodeAuthorization{
		ChainID: *uint256.MustFromBig(EthereumChainID), Address: d.address(), Nonce: uint64(number),
	})
	if err != nil {
		panic(err)
	}
	return &types.SetCodeTx{
		ChainID: uint256.MustFromBig(EthereumChainID), Nonce: uint64(number), GasTipCap: uint256.NewInt(1e9),
		GasFeeCap: uint256.NewInt(2e10), Gas: 100_000, To: d.address(), Value: new(uint256.Int),
		Data: d.calldata(tokenCalldata), AuthList: []types.SetCodeAuthorization{authorization},
	}
}
