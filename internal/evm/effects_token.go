package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// The standards of tokens, as effects name them.
const (
	erc20        = "erc20"
	erc20Or721   = "erc20-or-721"
	erc721       = "erc721"
	erc721Or1155 = "erc721-or-1155"
	erc777       = "erc777"
	erc1155      = "erc1155"
	erc6909      = "erc6909"
)

// The standards of tokens in orders. Of ERC20Or721 transferFrom is called, whose number is an
// amount or, of an NFT, the token.
const (
	ERC20      = erc20
	ERC20Or721 = erc20Or721
	ERC1155    = erc1155
)

var one = big.NewInt(1)

// moved adds that a token goes from one party to another.
func (e *emitter) moved(c *Call, from chains.Party, by chains.By, to chains.Party, asset chains.Asset, amount chains.Quantity) {
	e.add(c, c.movement(from, by, to, asset, amount))
}

// movement returns the effect of moved. A token that goes where it is lost is burned: not so
// what a function hands to the contract that is called, which has a use for it.
func (c *Call) movement(from chains.Party, by chains.By, to chains.Party, asset chains.Asset, amount chains.Quantity) chains.Effect {
	effect := chains.Effect{Kind: chains.KindTransfer, From: from, By: by, To: to, Asset: asset, Amount: amount}
	if by == chains.ByStanding && from.Equal(c.callerParty()) && needsNone(asset) {
		effect.By = ""
	}
	if c.network.Lost(asset, to) {
		effect.Kind = chains.KindBurn
	}
	if by == chains.ByOther {
		effect.OtherSigner = from
	}
	return effect
}

// needsNone reports whether the owner of an asset needs no permission to send it by a function that
// names whose it is, as ERC-20 has the owner need one.
func needsNone(asset chains.Asset) bool {
	_, fungible := chains.Listed(asset)
	return !fungible && asset.Standard != erc20
}

// approved adds a permission over an asset, or its revocation if there is no amount.
func (e *emitter) approved(c *Call, from, spender chains.Party, asset chains.Asset, amount chains.Quantity, signed bool) {
	effect := chains.Effect{Kind: chains.KindApprove, From: from, To: spender, Asset: asset, Amount: amount}
	if amount.IsNone() {
		effect.Kind = chains.KindRevoke
	}
	if signed {
		effect.By, effect.OtherSigner = e.signature(c, from)
	}
	e.add(c, effect)
}

// allowance returns an amount that another party may spend; none for zero, which
// revokes it. The emitter marks one that counts as unlimited.
func allowance(v *value, bound chains.Bound) chains.Quantity {
	amount := v.big()
	if amount.Sign() == 0 {
		return chains.Quantity{}
	}
	return chains.Quantity{Bound: bound, Value: amount}
}

// operator returns a permission over everything, or none.
func operator(approved bool) chains.Quantity {
	if approved {
		return chains.Unlimited(nil)
	}
	return chains.Quantity{}
}

// handsData adds that the recipient gets bytes that are not read.
func (e *emitter) handsData(c *Call, recipient string) {
	for i := range c.args {
		if v := &c.args[i]; v.kind == kindBytes && len(v.bytes) > 0 {
			e.add(c, chains.Effect{Kind: chains.KindCall, From: c.party(c.self), To: c.addressOf(recipient), Undecoded: true})
			return
		}
	}
}

// sends is for functions that send an amount of the caller's tokens, perhaps with bytes
// for the recipient.
func sends(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.moved(c, c.callerParty(), "", c.addressOf("to"), c.token(standard), chains.Exactly(c.arg("amount").big()))
		e.handsData(c, "to")
	}
}

// takes is for functions that move an amount of tokens from an account that has
// permitted it, perhaps with bytes for the recipient.
func takes(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.moved(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), c.token(standard), chains.Exactly(c.arg("amount").big()))
		e.handsData(c, "to")
	}
}

// transferFrom reads ERC-20, where the number is an amount, and ERC-721, where it is a
// token id. Either parameter list gives the number its name.
func transferFrom(e *emitter, c *Call) {
	number, standard := &c.args[2], erc20
	if number.name == "amount or token id" {
		standard = erc20Or721
	}
	e.moved(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), c.token(standard), chains.Exactly(number.big()))
}

// approve reads ERC-20 and ERC-721. Zero is an amount that revokes an allowance, or the
// id of a token that is handed over: it counts as the latter, unless the spender is the
// zero address or the token a built-in one.
func approve(e *emitter, c *Call) {
	asset, number := c.token(erc20Or721), c.arg("amount or token id")
	kind, amount := c.permission(asset, number)
	if kind == chains.KindRevoke || zeros(c.arg("spender").word) {
		amount = chains.Quantity{}
	}
	e.approved(c, c.callerParty(), c.addressOf("spender"), asset, amount, false)
}

func raiseAllowance(e *emitter, c *Call) {
	if amount := allowance(c.arg("added amount"), chains.BoundAdded); !amount.IsNone() {
		e.approved(c, c.callerParty(), c.addressOf("spender"), c.token(erc20), amount, false)
	}
}

func lowerAllowance(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindRevoke, From: c.callerParty(), To: c.addressOf("spender"), Asset: c.token(erc20),
		Amount: chains.AtMost(c.arg("removed amount").big())})
}

func permit(e *emitter, c *Call) {
	e.approved(c, c.addressOf("owner"), c.addressOf("spender"), c.token(erc20), allowance(c.arg("amount"), chains.BoundExact), true)
	e.ends(c, TimeOf(c.arg("deadline").big()))
}

// permitDai gives an allowance that is all or nothing. An expiry of 0 means none.
func permitDai(e *emitter, c *Call) {
	e.approved(c, c.addressOf("holder"), c.addressOf("spender"), c.token(erc20), operator(c.arg("allowed").yes()), true)
	expiry := c.arg("expiry").big()
	if expiry.Sign() == 0 {
		e.ends(c, chains.Until{})
		return
	}
	e.ends(c, TimeOf(expiry))
}

// permitNFT allows one token, whose owner the arguments do not name.
func permitNFT(e *emitter, c *Call) {
	e.approved(c, c.signatory("owner"), c.addressOf("spender"), numbered(c.token(erc721), c.arg("token id").big()), chains.Exactly(one), true)
	e.ends(c, TimeOf(c.arg("deadline").big()))
}

func permitForAll(e *emitter, c *Call) {
	e.approved(c, c.addressOf("owner"), c.addressOf("operator"), c.token(erc721Or1155), operator(true), true)
}

// transferWithAuthorization moves what its owner has signed. Anyone may submit that, or, if
// it is received, the recipient alone.
func transferWithAuthorization(e *emitter, c *Call) {
	effect := c.movement(c.addressOf("from"), "", c.addressOf("to"), c.token(erc20), chains.Exactly(c.arg("amount").big()))
	effect.By, effect.OtherSigner = e.signature(c, effect.From)
	effect.Until = TimeOf(c.arg("valid before").big())
	e.add(c, effect)
	e.ends(c, effect.Until)
}

// cancelAuthorization uses up the nonce of an authorization.
func cancelAuthorization(e *emitter, c *Call) {
	effect := chains.Effect{Kind: chains.KindSettings, From: c.addressOf("authorizer"), Account: c.party(c.self)}
	effect.By, effect.OtherSigner = e.signature(c, effect.From)
	e.add(c, effect)
}

func burn777(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindBurn, From: c.callerParty(), To: c.party(Address{}), Asset: c.token(erc777),
		Amount: chains.Exactly(c.arg("amount").big())})
}

func approveAndCall(e *emitter, c *Call) {
	e.approved(c, c.callerParty(), c.addressOf("spender"), c.token(erc20), allowance(c.arg("amount"), chains.BoundExact), false)
	e.handsData(c, "spender")
}

func transferNFT(e *emitter, c *Call) {
	asset := numbered(c.token(erc721), c.arg("token id").big())
	e.moved(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), asset, chains.Exactly(one))
	e.handsData(c, "to")
}

// takesNumbered is takes for a contract of several tokens.
func takesNumbered(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		asset := numbered(c.token(standard), c.arg("token id").big())
		e.moved(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), asset, chains.Exactly(c.arg("amount").big()))
		e.handsData(c, "to")
	}
}

// transferBatch moves tokens pair by pair. Contracts refuse lists that differ in
// length.
func transferBatch(e *emitter, c *Call) {
	ids, amounts := c.arg("token ids").list, c.arg("amounts").list
	for i := range min(len(ids), len(amounts)) {
		if e.full() {
			return
		}
		asset := numbered(c.token(erc1155), ids[i].big())
		e.moved(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), asset, chains.Exactly(amounts[i].big()))
	}
	e.handsData(c, "to")
}

func transfer6909(e *emitter, c *Call) {
	asset := numbered(c.token(erc6909), c.arg("token id").big())
	e.moved(c, c.callerParty(), "", c.addressOf("to"), asset, chains.Exactly(c.arg("amount").big()))
}

func approve6909(e *emitter, c *Call) {
	asset := numbered(c.token(erc6909), c.arg("token id").big())
	e.approved(c, c.callerParty(), c.addressOf("spender"), asset, allowance(c.arg("amount"), chains.BoundExact), false)
}

// approvesAll is for functions that let an operator take all of the caller's tokens, or
// that end this. The bool in an argument says which.
func approvesAll(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.approved(c, c.callerParty(), c.addressOf("operator"), c.token(standard), operator(c.arg("approved").yes()), false)
	}
}

// sets777 is for functions of ERC-777 that authorize an operator or revoke one.
func sets777(approved bool) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.approved(c, c.callerParty(), c.addressOf("operator"), c.token(erc777), operator(approved), false)
	}
}

// delegatesVotes is for a function that gives the votes of the caller's tokens to a delegatee.
func delegatesVotes(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindAuthority, From: c.callerParty(), To: c.addressOf("delegatee"), Asset: c.token(erc20)})
}

// delegatesVotesOf is delegatesVotes for the account that has signed it, which a call does not name.
func delegatesVotesOf(e *emitter, c *Call) {
	effect := chains.Effect{Kind: chains.KindAuthority, From: chains.SignerParty(), To: c.addressOf("delegatee"), Asset: c.token(erc20)}
	if !c.typed {
		effect.From = chains.UnknownParty()
	}
	effect.By, effect.OtherSigner = e.signature(c, effect.From)
	e.add(c, effect)
}

// wrap turns the native value of the call into tokens of its sender.
func wrap(e *emitter, c *Call) {
	if c.value.Sign() > 0 {
		e.add(c, chains.Effect{Kind: chains.KindMint, From: c.party(c.self), To: c.callerParty(), Asset: c.token(erc20), Amount: chains.Exactly(c.value)})
	}
}

func unwrap(e *emitter, c *Call) {
	amount := chains.Exactly(c.arg("amount").big())
	e.add(c, chains.Effect{Kind: chains.KindBurn, From: c.callerParty(), Asset: c.token(erc20), Amount: amount})
	e.add(c, chains.Effect{Kind: chains.KindTransfer, From: c.party(c.self), To: c.callerParty(), Asset: c.native(), Amount: amount})
}
