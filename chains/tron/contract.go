package tron

import (
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// The numbers of types that more than their table depends on.
const (
	numberTransfer      = 1
	numberTransferAsset = 2
	numberCreate        = 30
	numberTrigger       = 31
	numberPermissions   = 46
	numberDelegate      = 57
)

// contract is one contract type: a kind of transaction.
type contract struct {
	number  int64
	message *message
	effects effectsFunc // nil for TriggerSmartContract: see callEffects
	title   string      // in a few words, for summaries
	typeURL string
	burns   int64 // what executing it always burns, in sun
}

func newContract(number int64, name, title string, effects effectsFunc, fields ...field) *contract {
	return &contract{number: number, message: newMessage(name, fields...), effects: effects, title: title,
		typeURL: "type.googleapis.com/protocol." + name}
}

func (c *contract) where(rule rule) *contract {
	c.message.where(rule)
	return c
}

func (c *contract) burning(sun int64) *contract {
	c.burns = sun
	return c
}

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
