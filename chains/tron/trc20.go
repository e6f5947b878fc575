package tron

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// network is the network of Tron's contract calls: Ethereum's contract ABI, with
// addresses in base58check. Some clients precede the 20 bytes of an address in a word
// with the byte 41, which the virtual machine ignores.
var network = &evm.Network{
	ID:       Name,
	Symbol:   "TRX",
	Decimals: sunDecimals,
	Prefix:   []byte{addressPrefix},
	Notation: &chains.Notation{Text: func(binary []byte) string { return readAddress(binary).String() }},
	Lenient:  true,
	Tag:      addressPrefix,
	Standards: map[string]string{
		"ERC-20": "TRC-20", "ERC-721": "TRC-721", "ERC-1155": "TRC-1155",
		"ERC-20 or ERC-721": "TRC-20 or TRC-721", "ERC-721 or ERC-1155": "TRC-721 or TRC-1155",
	},
}

// call decodes the call of a TriggerSmartContract.
func (tx *transaction) call(pass *evm.Pass) *evm.Call {
	call := evm.Transaction{To: evm.Address(readAddress(tx.bytes(tx.values[triggerContract]))), Data: tx.bytes(tx.values[triggerData])}
	if value := tx.values[triggerValue].number; value != 0 {
		call.Value = big.NewInt(value)
	}
	return pass.ReadFrom(evm.Address(tx.owner), call, false)
}

// callSummary shows the call of a TriggerSmartContract.
func (tx *transaction) callSummary() []chains.Field {
	if tx.contract.message != triggerSmartContract {
		return nil
	}
	return tx.call(network.Pass()).Fields()
}

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller.
func (tx *transaction) Calls() []chains.Call {
	if tx.contract.message != triggerSmartContract {
		return nil
	}
	return tx.call(network.Pass()).Calls()
}
