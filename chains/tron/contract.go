package tron

import (
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// contracts are the types that the network executes, by number.
var contracts = func() (table [60]*contract) {
	for _, known := range slices.Concat(accountContracts, assetContracts, balanceContracts, smartContracts) {
		table[known.number] = known
	}
	return table
}()

// unexecuted are the types that java-tron declares and this reader refuses.
var unexecuted = map[int64]string{
	3:  "VoteAssetContract: the network does not execute it",
	11: "FreezeBalanceContract: Stake 1.0 is closed since Stake 2.0 (FreezeBalanceV2Contract)",
	20: "CustomContract: the network does not execute it",
	32: "GetContract: the network does not execute it",
	51: "ShieldedTransferContract: it is signed with keys of its own, which Countersign does not hold",
}

func contractOf(number int64, offset int) (*contract, error) {
	if number >= 0 && number < int64(len(contracts)) && contracts[number] != nil {
		return contracts[number], nil
	}
	problem, known := unexecuted[number]
	if !known {
		problem = "unknown contract type"
	}
	return nil, &chains.ParseError{
		Kind: chains.ErrUnsupported, Chain: Name, Field: "contract.type", Offset: offset,
		Problem: fmt.Sprintf("%d: %s", number, problem),
	}
}
