package tron

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
)

// network has the contract calls of Tron: those of Ethereum's contract ABI, with
// addresses in base58check. Some clients write addresses into words with the
// byte 41 in front of the 20; the virtual machine does not look at it.
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

// brief is network for effects of which hazards alone are wanted.
var brief = func() *evm.Network {
	brief := *network
	brief.Brief = true
	return &brief
}()

// call is the call of a TriggerSmartContract.
func (tx *transaction) call(network *evm.Network) *evm.Call {
	return network.Read(evm.Transaction{
		To:    evm.Address(readAddress(tx.bytes(tx.values[triggerContract]))),
		Value: big.NewInt(tx.values[triggerValue].number),
		Data:  tx.bytes(tx.values[triggerData]),
	})
}

// callSummary shows the call of a TriggerSmartContract.
func (tx *transaction) callSummary() []chains.Field {
	if tx.contract.message != triggerSmartContract {
		return nil
	}
	return tx.call(network).Fields()
}
