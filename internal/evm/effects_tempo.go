package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

const tip20 = "tip20"

// controlOwn is for functions that give control of the calling account to the key in an
// argument.
func controlOwn(name string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.add(c, chains.Effect{Kind: chains.KindAuthority, To: c.addressOf(name), Account: c.callerParty()})
	}
}

// controlToUnknown is for functions that give control of the called contract to parties
// that the bytes do not name.
func controlToUnknown(e *emitter, c *Call) { e.addControl(c, c.self, chains.UnknownParty()) }

// revokeFrom is for functions that take back permissions of the account in an argument.
func revokeFrom(name string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.add(c, chains.Effect{Kind: chains.KindRevoke, To: c.addressOf(name), Account: c.callerParty()})
	}
}

// addTIP20Transfer adds that a token goes from one party to another. What a contract sends to
// anyone but the caller is by the caller, who says where it goes.
func (e *emitter) addTIP20Transfer(c *Call, from, to chains.Party, asset chains.Asset, amount chains.Quantity) {
	e.add(c, chains.Effect{Kind: chains.KindTransfer, From: from, To: to, Asset: asset, Amount: amount})
}

func approveTIP20(e *emitter, c *Call) {
	e.addApproval(c, "spender", c.token(tip20), c.allowance("amount"))
}

func permitTIP20(e *emitter, c *Call) {
	e.addSignedApproval(c, c.addressOf("owner"), "spender", c.token(tip20), c.allowance("amount"))
}

func mintTIP20(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindMint, To: c.addressOf("to"), Asset: c.token(tip20),
		Amount: c.exactly("amount")})
}

func burnTIP20(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindBurn, Asset: c.token(tip20), Amount: c.exactly("amount")})
}

// burnTIP20From destroys what another account has, by a role of the caller.
func burnTIP20From(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindBurn, From: c.addressOf("from"), By: chains.ByStanding,
		Asset: c.token(tip20), Amount: c.exactly("amount")})
}

func freezeToken(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindFreeze, Account: c.party(c.self)})
}

func distributeReward(e *emitter, c *Call) {
	e.addTIP20Transfer(c, c.callerParty(), c.party(c.self), c.token(tip20), c.exactly("amount"))
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

func claimRewards(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindUnstake, To: c.callerParty(), Asset: c.token(tip20),
		Amount: chains.UnknownQuantity()})
}

func createToken(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindCreate, To: chains.UnknownParty()})
}

// setReceivePolicy decides what the caller may be sent. The recovery authority can take
// what is then held back.
func setReceivePolicy(e *emitter, c *Call) {
	settings(e, c)
	if recovery := c.arg("recovery authority"); !zeros(recovery.word) {
		e.addApproval(c, "recovery authority", chains.UnknownAsset(c.pass.ID), chains.UnknownQuantity())
	}
}

func addLiquidity(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindStake, To: c.addressOf("to"), Account: c.party(c.self),
		Asset: c.tokenIn("validator token", tip20), Amount: c.exactly("amount")})
}

func removeLiquidity(e *emitter, c *Call) {
	for _, token := range []string{"user token", "validator token"} {
		e.add(c, chains.Effect{Kind: chains.KindUnstake, To: c.addressOf("to"), Account: c.party(c.self),
			Asset: c.tokenIn(token, tip20), Amount: chains.UnknownQuantity()})
	}
}

// rebalanceSwap pays 0.9985 of what it gets, plus one unit for rounding.
func rebalanceSwap(e *emitter, c *Call) {
	out := c.arg("amount out").big()
	e.addTIP20Transfer(c, c.callerParty(), c.party(c.self), c.tokenIn("validator token", tip20),
		chains.AtMost(new(big.Int).Add(out, one)))
	e.addTIP20Transfer(c, c.party(c.self), c.addressOf("to"), c.tokenIn("user token", tip20), chains.Exactly(out))
}

// placeOrder hands over the assets of an order: to sell a token, its amount; to buy
// one, an amount of its quote token, which the bytes do not name.
func placeOrder(e *emitter, c *Call) {
	asset, amount := c.tokenIn("token", tip20), c.exactly("amount")
	if c.arg("is bid").yes() {
		asset, amount = chains.UnknownAsset(c.pass.ID), chains.UnknownQuantity()
	}
	e.addTIP20Transfer(c, c.callerParty(), c.party(c.self), asset, amount)
}

func releaseUnknown(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindUnstake, To: c.callerParty(), Account: c.party(c.self),
		Asset: chains.UnknownAsset(c.pass.ID), Amount: chains.UnknownQuantity()})
}

func swapExactIn(e *emitter, c *Call) {
	e.addTrade(c, c.exactly("amount in"), chains.AtLeast(c.arg("least amount out").big()))
}

func swapExactOut(e *emitter, c *Call) {
	e.addTrade(c, chains.AtMost(c.arg("most amount in").big()), c.exactly("amount out"))
}

func (e *emitter) addTrade(c *Call, in, out chains.Quantity) {
	e.addTIP20Transfer(c, c.callerParty(), c.party(c.self), c.tokenIn("token in", tip20), in)
	e.addTIP20Transfer(c, c.party(c.self), c.callerParty(), c.tokenIn("token out", tip20), out)
}

// withdrawBalance takes back what the caller has at the exchange: it is no price of what
// another call gives.
func withdrawBalance(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindUnstake, To: c.callerParty(), Account: c.party(c.self),
		Asset: c.tokenIn("token", tip20), Amount: c.exactly("amount")})
}

// openChannel deposits what the payee can draw with the signatures of the payer, or of
// a key that the payer names.
func openChannel(e *emitter, c *Call) {
	e.addTIP20Transfer(c, c.callerParty(), c.addressOf("payee"), c.tokenIn("token", tip20),
		chains.AtMost(c.arg("deposit").big()))
}

func topUpChannel(e *emitter, c *Call) {
	to := c.arg("channel").list
	e.addTIP20Transfer(c, c.callerParty(), c.party(member(to, "payee").address()),
		c.tokenAt(member(to, "token").address(), tip20), chains.AtMost(c.arg("deposit").big()))
}

// settleChannel draws from a channel with the payer's signature in the bytes.
func settleChannel(amount string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		of := c.arg("channel").list
		payer := c.party(member(of, "payer").address())
		e.add(c, chains.Effect{Kind: chains.KindTransfer, From: payer, By: chains.ByOther, OtherSigner: payer,
			To:    c.party(member(of, "payee").address()),
			Asset: c.tokenAt(member(of, "token").address(), tip20), Amount: chains.AtMost(c.arg(amount).big())})
	}
}

func withdrawChannel(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindUnstake, To: c.callerParty(), Account: c.party(c.self),
		Asset: c.tokenAt(member(c.arg("channel").list, "token").address(), tip20), Amount: chains.UnknownQuantity()})
}

// claimBlocked takes what a receive policy held back. Only the receipt, which is not
// read, says what that is.
func claimBlocked(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindTransfer, To: c.addressOf("to"), Asset: chains.UnknownAsset(c.pass.ID),
		Amount: chains.UnknownQuantity()})
}

func burnBlocked(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindBurn, From: chains.UnknownParty(), By: chains.ByStanding,
		Asset: chains.UnknownAsset(c.pass.ID), Amount: chains.UnknownQuantity()})
}
