package ethereum

import (
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

func (c Chain) Words() chains.Words {
	words := evm.Words()
	words.OneNonce, words.Forms.Unsign = hasOneNonce, c.Unsign
	words.Variable, words.Details = "eth", append([]chains.Detail{
		{Name: "to", Type: chains.TypeAddress},
		{Name: "value", Type: chains.TypeAmount},
		{Name: "chain_id", Type: chains.TypeInteger},
		{Name: "nonce", Type: chains.TypeInteger},
		{Name: "gas", Type: chains.TypeInteger},
		{Name: "gas_price", Type: chains.TypeAmount},
		{Name: "max_fee_per_gas", Type: chains.TypeAmount},
		{Name: "max_priority_fee_per_gas", Type: chains.TypeAmount},
		{Name: "max_fee_per_blob_gas", Type: chains.TypeAmount},
		{Name: "max_fee", Type: chains.TypeAmount},
	}, evm.FunctionDetails()...)
	return words
}

// hasOneNonce reports whether a transaction of a network excludes others of its nonce. It
// needs a chain id, which keeps it off other networks. Tempo's accounts can have other
// nonces, which expire.
func hasOneNonce(network string) bool {
	text, ok := strings.CutPrefix(network, "eip155:")
	id, err := strconv.ParseUint(text, 10, 64)
	return ok && err == nil && id != 0 && !isTempo(id)
}
