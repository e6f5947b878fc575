package evm

import (
	"encoding/hex"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// controlTo is for functions that give control of the called contract, or a say in it, to the account
// in an argument.
func controlTo(name string) func(*emitter, *Call) {
	return adds(chains.KindAuthority, to(name), ofCalled)
}

// loses is for functions that take control of the called contract from the account in an argument.
func loses(name string) func(*emitter, *Call) { return adds(chains.KindRevoke, to(name), ofCalled) }

// addStake holds the value of the call for the caller.
var addStake = adds(chains.KindStake, toCaller, ofCalled, native, ownValue)

// depositValidator stakes the value of the call. Withdrawal credentials that begin with
// 01 or 02 end in the address that can withdraw it.
func depositValidator(e *emitter, c *Call) {
	to := chains.UnknownParty()
	if credentials := c.arg("withdrawal credentials").bytes; len(credentials) == 32 &&
		(credentials[0] == 1 || credentials[0] == 2) && zeros(credentials[1:12]) {
		to = c.party(Address(credentials[12:]))
	}
	key := c.arg("validator key").bytes
	e.add(c, chains.Effect{Kind: chains.KindStake, To: to, Account: validator(key),
		Asset: c.native(), Amount: chains.Exactly(c.value)})
}

func validator(key []byte) chains.Party { return chains.PartyAt(key, blsKey) }

var blsKey = &chains.Notation{Text: func(key []byte) string { return "0x" + hex.EncodeToString(key) }}

var gwei = big.NewInt(1e9)
