package evm

import (
	"bytes"
	"math"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// plainInputs are what contracts do with data that has no selector, by its length in bytes.
var plainInputs = []struct {
	at          contractSet
	requests    string // in a word; empty for the value alone
	least, most int
	act         act
}{
	{atWETH, "", 0, 0, payable(wrap)},
	{atEntryPoint, "", 0, 0, holds(addStake)},
	{atWithdrawals, "withdrawal", 56, 56, payable(withdrawValidator)},
	{atConsolidations, "consolidation", 96, 96, payable(consolidateValidator)},
	{atCreate2Factory, "creation", word, maxInput, holds(create2)},
}

// maxInput is more than the length of any data, also where int has 32 bits.
const maxInput = math.MaxInt32

// plainInput returns what the contract at an address does with data of a length that has no
// selector, nil if it is not known. ok is false if the contract has functions.
func (n *Network) plainInput(code Address, size int) (does *act, ok bool) {
	for i := range plainInputs {
		input := &plainInputs[i]
		if input.most == 0 && size > 0 || !n.isKnown(code, input.at) {
			continue
		}
		if ok = true; input.least <= size && size <= input.most {
			return &input.act, true
		}
	}
	return nil, ok
}

// hasPlainInput reports whether the contract at an address takes bytes without a selector.
func (n *Network) hasPlainInput(code Address) bool {
	_, ok := n.plainInput(code, 1)
	return ok
}

// withdrawValidator has the balance of a validator returned, or an amount of it (EIP-7002).
func withdrawValidator(e *emitter, c *Call) {
	amount := chains.All()
	if !zeros(c.data[48:]) {
		amount = chains.AtMost(new(big.Int).Mul(new(big.Int).SetBytes(c.data[48:]), gwei))
	}
	e.add(c, chains.Effect{Kind: chains.KindUnstake, To: c.callerParty(),
		Account: validator(c.data[:48]), Asset: c.native(), Amount: amount})
}

// consolidateValidator has the balance of a validator go to another, whose withdrawal
// credentials the bytes do not say, or has a validator compound (EIP-7251).
func consolidateValidator(e *emitter, c *Call) {
	source, target := c.data[:48], c.data[48:]
	if bytes.Equal(source, target) {
		e.add(c, chains.Effect{Kind: chains.KindSettings, Account: validator(source)})
		return
	}
	e.add(c, chains.Effect{Kind: chains.KindStake, To: chains.UnknownParty(),
		Account: validator(target), Asset: c.native(), Amount: chains.All()})
}

// create2 has the CREATE2 factory create a contract, which gets the value of the call.
func create2(e *emitter, c *Call) {
	effect := chains.Effect{Kind: chains.KindCreate, From: c.callerParty(),
		To: c.party(create2Address(c.code, c.data[:word], c.data[word:]))}
	if c.value.Sign() > 0 {
		effect.Asset, effect.Amount = c.native(), chains.Exactly(c.value)
	}
	e.add(c, effect)
}
