package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

const tip20 = "tip20"

// addTIP20Transfer adds that a token goes from one party to another. What a contract sends to
// anyone but the caller is by the caller, who says where it goes.
func (e *emitter) addTIP20Transfer(c *Call, from, to chains.Party, asset chains.Asset, amount chains.Quantity) {
	e.add(c, chains.Effect{Kind: chains.KindTransfer, From: from, To: to, Asset: asset, Amount: amount})
}

// setRewardRecipient lets another account take the rewards of the caller's holdings
// from now on. Holders who name themselves only ask for what is theirs.
func setRewardRecipient(e *emitter, c *Call) {
	if c.addressOf("recipient").Equal(c.callerParty()) {
		settings(e, c)
		return
	}
	amount := chains.UnknownQuantity()
	if zeros(c.arg("recipient").word) {
		amount = chains.Quantity{} // ends it
	}
	e.addApproval(c, "recipient", c.token(tip20), amount)
}

// setReceivePolicy decides what the caller may be sent. The recovery authority can take
// what is then held back.
func setReceivePolicy(e *emitter, c *Call) {
	settings(e, c)
	if recovery := c.arg("recovery authority"); !zeros(recovery.word) {
		e.addApproval(c, "recovery authority", chains.UnknownAsset(c.pass.ID), chains.UnknownQuantity())
	}
}

// rebalanceSwap pays 0.9985 of what it gets, plus one unit for rounding.
func rebalanceSwap(e *emitter, c *Call) {
	out := c.arg("amount out").big()
	e.addTIP20Transfer(c, c.callerParty(), c.party(c.self), c.tokenIn(tip20, "validator token"),
		chains.AtMost(new(big.Int).Add(out, one)))
	e.addTIP20Transfer(c, c.party(c.self), c.addressOf("to"), c.tokenIn(tip20, "user token"), chains.Exactly(out))
}

// placeOrder hands over the assets of an order: to sell a token, its amount; to buy
// one, an amount of its quote token, which the bytes do not name.
func placeOrder(e *emitter, c *Call) {
	asset, amount := c.tokenIn(tip20, "token"), c.exactly("amount")
	if c.arg("is bid").yes() {
		asset, amount = chains.UnknownAsset(c.pass.ID), chains.UnknownQuantity()
	}
	e.addTIP20Transfer(c, c.callerParty(), c.party(c.self), asset, amount)
}

// trades is for functions that give an amount of one token for one of another.
func trades(in, out part) func(*emitter, *Call) {
	return both(adds(chains.KindTransfer, toCalled, token(tip20, "token in"), in),
		adds(chains.KindTransfer, fromCalled, toCaller, token(tip20, "token out"), out))
}
