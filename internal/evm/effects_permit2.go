package evm

import (
	"time"

	"github.com/countersign-dev/countersign/chains"
)

// permit2Approve gives an allowance through Permit2, which expires.
func permit2Approve(e *emitter, c *Call) {
	e.permit2(c, c.callerParty(), "", c.arg("spender").address(), c.args)
}

// permit2 adds an allowance of Permit2 from its details: token, amount and
// expiration.
func (e *emitter) permit2(c *Call, from chains.Party, by chains.By, spender Address, details []value) {
	effect := chains.Effect{Kind: chains.KindApprove, From: from, By: by, To: c.party(spender),
		Asset: c.tokenAt(member(details, "token").address(), erc20), Amount: allowance(member(details, "amount"), chains.BoundExact)}
	if effect.Amount.IsNone() {
		effect.Kind = chains.KindRevoke
	} else {
		effect.Until = until(member(details, "expiration"))
	}
	if by == chains.ByOther {
		effect.OtherSigner = from
	}
	e.add(c, effect)
}

// until returns the end of an allowance. Zero is the block in which it is given.
func until(expiration *value) chains.Until {
	switch seconds := expiration.big(); {
	case seconds.Sign() == 0:
		return chains.Until{Text: "the end of its block"}
	case seconds.Int64() > lastTime:
		return chains.Until{}
	default:
		return chains.Until{Time: time.Unix(seconds.Int64(), 0)}
	}
}

// permit2Permit gives allowances that their owner has signed.
func permit2Permit(e *emitter, c *Call) {
	e.permit2Details(c, c.addressOf("owner"), chains.ByOther)
}

// permit2Details adds the allowances of a permit: one, or those of a batch.
func (e *emitter) permit2Details(c *Call, owner chains.Party, by chains.By) {
	permit := c.arg("permit").list
	details, spender := member(permit, "details"), member(permit, "spender").address()
	if details.kind == kindTuple {
		e.permit2(c, owner, by, spender, details.list)
		return
	}
	for i := range details.list {
		if e.full() {
			return
		}
		e.permit2(c, owner, by, spender, details.list[i].list)
	}
}

func permit2Transfer(e *emitter, c *Call) { e.permit2Moved(c, c.args, chains.ByStanding) }

func permit2TransferBatch(e *emitter, c *Call) {
	transfers := c.arg("transfers").list
	for i := range transfers {
		if e.full() {
			return
		}
		e.permit2Moved(c, transfers[i].list, chains.ByStanding)
	}
}

// permit2Moved adds a transfer over an allowance of Permit2.
func (e *emitter) permit2Moved(c *Call, details []value, by chains.By) {
	e.moved(c, c.party(member(details, "from").address()), by, c.party(member(details, "to").address()),
		c.tokenAt(member(details, "token").address(), erc20), chains.Exactly(member(details, "amount").big()))
}

// permit2Signed adds transfers that the owner has signed: of each permitted token, the
// amount that the caller requests. Permit2 refuses to move more than that, and lists
// that differ in length.
func permit2Signed(e *emitter, c *Call) {
	permitted := member(c.arg("permit").list, "permitted")
	if permitted.kind == kindTuple {
		e.permit2Requested(c, permitted.list, c.arg("transfer").list)
		return
	}
	transfers := c.arg("transfers").list
	for i := range min(len(permitted.list), len(transfers)) {
		if e.full() {
			return
		}
		e.permit2Requested(c, permitted.list[i].list, transfers[i].list)
	}
}

func (e *emitter) permit2Requested(c *Call, permitted, requested []value) {
	amount := member(requested, "requested amount").big()
	if amount.Sign() == 0 {
		return // Permit2 skips such a transfer
	}
	e.moved(c, c.addressOf("owner"), chains.ByOther, c.party(member(requested, "to").address()),
		c.tokenAt(member(permitted, "token").address(), erc20), chains.Exactly(amount))
}

// permit2Invalidate adds that unused permits for a spender become invalid.
func permit2Invalidate(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindSettings, From: c.callerParty(), To: c.addressOf("spender"), Account: c.party(c.self),
		Asset: c.tokenAt(c.arg("token").address(), erc20)})
}

func permit2Lockdown(e *emitter, c *Call) {
	approvals := c.arg("approvals").list
	for i := range approvals {
		if e.full() {
			return
		}
		pair := approvals[i].list
		e.approved(c, c.callerParty(), c.party(member(pair, "spender").address()),
			c.tokenAt(member(pair, "token").address(), erc20), chains.Quantity{}, false)
	}
}
