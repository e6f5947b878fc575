package evm

import (
	"iter"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// permit2Approve gives an allowance through Permit2, which expires.
func permit2Approve(e *emitter, c *Call) {
	e.addPermit2(c, c.callerParty(), "", c.arg("spender").address(), c.args, "")
}

// permitted returns the token that members name. Permit2 calls transferFrom of it, which of an NFT
// takes its number.
func (c *Call) permitted(members []value) chains.Asset {
	return c.tokenAt(member(members, "token").address(), erc20Or721)
}

// addPermit2 adds an allowance of Permit2 from its details: token, amount and expiration.
func (e *emitter) addPermit2(c *Call, from chains.Party, by chains.By, spender Address, details []value, path string) {
	effect := chains.Effect{From: from, By: by, To: c.party(spender), Path: path, Asset: c.permitted(details)}
	effect.Kind, effect.Amount = c.permission(effect.Asset, member(details, "amount"))
	expiration := member(details, "expiration").big()
	switch {
	case effect.Kind == chains.KindRevoke:
	case expiration.Sign() == 0:
		effect.Until = chains.Until{Text: "the end of its block"}
	default:
		effect.Until = TimeOf(expiration)
	}
	if by == chains.ByOther {
		effect.By, effect.OtherSigner = e.requireSignature(c, from)
	}
	e.add(c, effect)
	if expiration.Sign() > 0 {
		e.setEnd(c, effect.Until)
	}
}

// permit2Permit gives allowances that their owner has signed.
func permit2Permit(e *emitter, c *Call) {
	e.addPermit2Details(c, c.signatory("owner"), chains.ByOther)
}

// addPermit2Details adds the allowances of a permit: one, or those of a batch.
func (e *emitter) addPermit2Details(c *Call, owner chains.Party, by chains.By) {
	permit := c.args
	if !c.typed { // calldata has the members of typed data in an argument
		permit = c.arg("permit").list
	}
	details, spender := member(permit, "details"), member(permit, "spender").address()
	for path, one := range e.oneOrMany(details) {
		e.addPermit2(c, owner, by, spender, one, c.under(path))
	}
	e.setEndOfAll(c, TimeOf(member(permit, "signature deadline").big()))
}

func permit2Transfer(e *emitter, c *Call) { e.addPermit2Transfer(c, c.args, chains.ByStanding) }

func permit2TransferBatch(e *emitter, c *Call) {
	transfers := c.arg("transfers").list
	for i := range e.upTo(len(transfers)) {
		e.addPermit2Transfer(c, transfers[i].list, chains.ByStanding)
	}
}

func (e *emitter) addPermit2Transfer(c *Call, details []value, by chains.By) {
	e.addTransfer(c, c.party(member(details, "from").address()), by, c.party(member(details, "to").address()),
		c.permitted(details), chains.Exactly(member(details, "amount").big()))
}

// permit2Signed adds transfers that the owner has signed: of each permitted token, the amount that
// the caller requests. Permit2 refuses to move more than that, and lists that differ in length.
func permit2Signed(e *emitter, c *Call) {
	permitted := member(c.arg("permit").list, "permitted")
	if permitted.kind == kindTuple {
		e.addPermit2Request(c, permitted.list, c.arg("transfer").list)
		return
	}
	transfers := c.arg("transfers").list
	for i := range e.upTo(min(len(permitted.list), len(transfers))) {
		e.addPermit2Request(c, permitted.list[i].list, transfers[i].list)
	}
}

func (e *emitter) addPermit2Request(c *Call, permitted, requested []value) {
	amount := member(requested, "requested amount").big()
	_, fungible := chains.Listed(c.permitted(permitted))
	if several := find(c.args, "transfers") != nil; amount.Sign() == 0 && (several || fungible) {
		return // Permit2 skips it among several, and alone it is nothing unless the token is an NFT
	}
	e.addTransfer(c, c.addressOf("owner"), chains.ByOther, c.party(member(requested, "to").address()),
		c.permitted(permitted), chains.Exactly(amount))
}

// permit2Transferable adds what a signature lets the spender transfer once, to any address:
// at most the permitted amount of each token. In a call, permit2Signed adds what it transfers.
func permit2Transferable(e *emitter, c *Call) {
	for path, one := range e.oneOrMany(c.arg("permitted")) {
		effect := chains.Effect{From: chains.SignerParty(), To: c.addressOf("spender"), Path: c.under(path),
			Asset: c.permitted(one)}
		effect.Kind, effect.Amount = c.permission(effect.Asset, member(one, "amount"))
		if effect.Kind != chains.KindRevoke {
			effect.Until = TimeOf(c.arg("deadline").big())
		}
		e.add(c, effect)
		e.setEnd(c, effect.Until)
	}
}

// oneOrMany yields the members of a struct, or those of each in a list, with their paths.
func (e *emitter) oneOrMany(v *value) iter.Seq2[string, []value] {
	return func(yield func(string, []value) bool) {
		if v.kind == kindTuple {
			yield(v.name, v.list)
			return
		}
		for i := range e.upTo(len(v.list)) {
			if !yield(v.name+"/"+strconv.Itoa(i), v.list[i].list) {
				return
			}
		}
	}
}

// The types of transfers that are signed for a spender.
const (
	permit2Permissions  = "TokenPermissions(address token,uint256 amount)"
	permit2Single       = "TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline"
	permit2Batch        = "TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline"
	permit2TransferType = "PermitTransferFrom(" + permit2Single + ")" + permit2Permissions
	permit2BatchType    = "PermitBatchTransferFrom(" + permit2Batch + ")" + permit2Permissions
)

// permit2Witnessed are the beginnings of the types of transfers with a witness: one more member,
// whose meaning only the spender knows.
var permit2Witnessed = []struct{ witnessed, plain string }{
	{"PermitWitnessTransferFrom(" + permit2Single + ",", permit2TransferType},
	{"PermitBatchWitnessTransferFrom(" + permit2Batch + ",", permit2BatchType},
}

func permit2Lockdown(e *emitter, c *Call) {
	approvals := c.arg("approvals").list
	for i := range e.upTo(len(approvals)) {
		pair := approvals[i].list
		e.add(c, chains.Effect{Kind: chains.KindRevoke, To: c.party(member(pair, "spender").address()),
			Asset: c.tokenAt(member(pair, "token").address(), erc20)})
	}
}

// A spender of Permit2 chooses who gets what a signature permits it to transfer. The witness
// in the signature binds only what the spender's own code checks of it: an address "to" in it
// is the payee only of spenders that are known to send the tokens there and nowhere else.

// The spenders of x402, as x402ExactPermit2Proxy.sol and x402UptoPermit2Proxy.sol of coinbase/x402
// (contracts/evm) have them at dd927a26. They were deployed through CREATE2, so that their
// addresses commit to their code. Only the facilitator in the witness can use the second.
var (
	x402Exact = hexAddress("0x402085c248EeA27D92E8b30b2C58ed07f9E20001")
	x402Upto  = hexAddress("0x4020a4f3b7b90CCA423b9FabCC0CE57c6c240002")
)

// witnessTransfer begins the type of a transfer with a witness, without the witness's own.
const witnessTransfer = "PermitWitnessTransferFrom(" + permit2Single + ",Witness witness)" + permit2Permissions

// paysWitness is for a transfer that a spender makes to the address in the witness, of which
// it sends the permitted amount or less. Any other spender may send that anywhere.
func paysWitness(enforcer Address, bound chains.Bound) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		if c.arg("spender").address() != enforcer {
			permit2Transferable(e, c)
			return
		}
		permitted, until := c.arg("permitted").list, TimeOf(c.arg("deadline").big())
		effect := c.transfer(chains.SignerParty(), "", c.party(member(c.arg("witness").list, "to").address()),
			c.permitted(permitted),
			chains.Quantity{Bound: bound, Value: member(permitted, "amount").big()})
		effect.Until, effect.Path = until, c.under("witness")
		e.add(c, effect)
		e.setEnd(c, until)
	}
}
