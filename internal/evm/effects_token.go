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

func (e *emitter) addTransfer(c *Call, from chains.Party, by chains.By, to chains.Party, asset chains.Asset,
	amount chains.Quantity) {
	e.add(c, c.transfer(from, by, to, asset, amount))
}

// transfer returns the effect that addTransfer adds. A token that goes where it is lost is burned: not so
// what a function hands to the contract that is called, which has a use for it.
func (c *Call) transfer(from chains.Party, by chains.By, to chains.Party, asset chains.Asset,
	amount chains.Quantity) chains.Effect {
	effect := chains.Effect{Kind: chains.KindTransfer, From: from, By: by, To: to, Asset: asset, Amount: amount}
	if by == chains.ByStanding && from.Equal(c.callerParty()) && asset.Standard != erc20 {
		// The owner needs no permission to send it by a function that names whose it is, as ERC-20 has
		// the owner need one.
		if _, fungible := chains.Listed(asset); !fungible {
			effect.By = ""
		}
	}
	if c.pass.Lost(asset, to) {
		effect.Kind = chains.KindBurn
	}
	if by == chains.ByOther {
		effect.OtherSigner = from
	}
	return effect
}

// addApproval adds a permission of the caller's for the account in an argument, or its revocation
// if there is no amount.
func (e *emitter) addApproval(c *Call, spender string, asset chains.Asset, amount chains.Quantity) {
	e.add(c, permission(chains.Party{}, c.addressOf(spender), asset, amount))
}

// addSignedApproval is addApproval for a permission that its owner signs.
func (e *emitter) addSignedApproval(c *Call, owner chains.Party, spender string, asset chains.Asset,
	amount chains.Quantity) {
	effect := permission(owner, c.addressOf(spender), asset, amount)
	effect.By, effect.OtherSigner = e.requireSignature(c, owner)
	e.add(c, effect)
}

// permission returns the effect of an approval, or of a revocation if there is no amount.
func permission(owner, spender chains.Party, asset chains.Asset, amount chains.Quantity) chains.Effect {
	effect := chains.Effect{Kind: chains.KindApprove, From: owner, To: spender, Asset: asset, Amount: amount}
	if amount.IsNone() {
		effect.Kind = chains.KindRevoke
	}
	return effect
}

// allowance returns an amount that another party may spend; none for zero, which
// revokes it. The emitter marks one that counts as unlimited.
func (c *Call) allowance(name string) chains.Quantity {
	amount := c.arg(name).big()
	if amount.Sign() == 0 {
		return chains.Quantity{}
	}
	return chains.Exactly(amount)
}

// operator returns a permission over everything, or none.
func operator(approved bool) chains.Quantity {
	if approved {
		return chains.Unlimited(nil)
	}
	return chains.Quantity{}
}

// addDataCall adds that the recipient gets bytes that are not read.
func (e *emitter) addDataCall(c *Call, recipient string) {
	for i := range c.args {
		if v := &c.args[i]; v.kind == kindBytes && len(v.bytes) > 0 {
			e.add(c, chains.Effect{Kind: chains.KindCall, From: c.party(c.self), To: c.addressOf(recipient),
				Undecoded: true})
			return
		}
	}
}

// sends is for functions that send an amount of the caller's tokens, perhaps with bytes
// for the recipient.
func sends(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.addTransfer(c, c.callerParty(), "", c.addressOf("to"), c.tokenOrOne(standard), c.exactly("amount"))
		e.addDataCall(c, "to")
	}
}

// takes is for functions that move an amount of tokens, or an NFT, from an account that has
// permitted it, perhaps with bytes for the recipient.
func takes(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		amount := chains.Exactly(one)
		if standard != erc721 {
			amount = c.exactly("amount")
		}
		e.addTransfer(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), c.tokenOrOne(standard), amount)
		e.addDataCall(c, "to")
	}
}

// approves is for functions that let another account spend an amount, perhaps with bytes for it.
func approves(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.addApproval(c, "spender", c.tokenOrOne(standard), c.allowance("amount"))
		e.addDataCall(c, "spender")
	}
}

// transferFrom reads ERC-20, where the number is an amount, and ERC-721, where it is a
// token id. Either parameter list gives the number its name.
func transferFrom(e *emitter, c *Call) {
	number, standard := &c.args[2], erc20
	if number.name == "amount or token id" {
		standard = erc20Or721
	}
	e.addTransfer(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), c.token(standard),
		chains.Exactly(number.big()))
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
	e.addApproval(c, "spender", asset, amount)
}

func raiseAllowance(e *emitter, c *Call) {
	if amount := c.allowance("added amount"); !amount.IsNone() {
		amount.Bound = chains.BoundAdded
		e.addApproval(c, "spender", c.token(erc20), amount)
	}
}

var lowersAllowance = adds(chains.KindRevoke, to("spender"), called(erc20), atMost("removed amount"))

func permit(standard string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.addSignedApproval(c, c.addressOf("owner"), "spender", c.token(standard), c.allowance("amount"))
		e.setEnd(c, TimeOf(c.arg("deadline").big()))
	}
}

// permitDai gives an allowance that is all or nothing. An expiry of 0 means none.
func permitDai(e *emitter, c *Call) {
	e.addSignedApproval(c, c.addressOf("holder"), "spender", c.token(erc20), operator(c.arg("allowed").yes()))
	e.setEnd(c, timeOrNever(c.arg("expiry").big()))
}

// permitNFT allows one token, whose owner the arguments do not name.
func permitNFT(e *emitter, c *Call) {
	e.addSignedApproval(c, c.signatory("owner"), "spender", c.tokenOrOne(erc721), chains.Exactly(one))
	e.setEnd(c, TimeOf(c.arg("deadline").big()))
}

func permitForAll(e *emitter, c *Call) {
	e.addSignedApproval(c, c.addressOf("owner"), "operator", c.token(erc721Or1155), operator(true))
}

// transferWithAuthorization moves what its owner has signed. Anyone may submit that, or, if
// it is received, the recipient alone.
func transferWithAuthorization(e *emitter, c *Call) {
	effect := c.transfer(c.addressOf("from"), "", c.addressOf("to"), c.token(erc20), c.exactly("amount"))
	effect.By, effect.OtherSigner = e.requireSignature(c, effect.From)
	effect.Until = TimeOf(c.arg("valid before").big())
	e.add(c, effect)
	e.setEnd(c, effect.Until)
}

// cancelAuthorization uses up the nonce of an authorization.
func cancelAuthorization(e *emitter, c *Call) {
	effect := chains.Effect{Kind: chains.KindSettings, From: c.addressOf("authorizer"), Account: c.party(c.self)}
	effect.By, effect.OtherSigner = e.requireSignature(c, effect.From)
	e.add(c, effect)
}

// transferBatch moves tokens pair by pair. Lists that differ in length are not the standard's.
func transferBatch(e *emitter, c *Call) {
	ids, amounts := c.arg("token ids").list, c.arg("amounts").list
	if len(ids) != len(amounts) {
		e.addUndecoded(c)
	}
	for i := range e.upTo(min(len(ids), len(amounts))) {
		asset := c.token(erc1155)
		asset.NFT = ids[i].big()
		e.addTransfer(c, c.addressOf("from"), chains.ByStanding, c.addressOf("to"), asset,
			chains.Exactly(amounts[i].big()))
	}
	e.addDataCall(c, "to")
}

// delegatesVotesOf is delegatesVotes for the account that has signed it, which a call does not name.
func delegatesVotesOf(e *emitter, c *Call) {
	effect := chains.Effect{Kind: chains.KindAuthority, From: chains.SignerParty(), To: c.addressOf("delegatee"),
		Asset: c.token(erc20)}
	if !c.typed {
		effect.From = chains.UnknownParty()
	}
	effect.By, effect.OtherSigner = e.requireSignature(c, effect.From)
	e.add(c, effect)
}

// wrap turns the native value of the call into tokens of its sender.
func wrap(e *emitter, c *Call) {
	if c.value.Sign() > 0 {
		e.add(c, chains.Effect{Kind: chains.KindMint, From: c.party(c.self), To: c.callerParty(),
			Asset: c.token(erc20), Amount: chains.Exactly(c.value)})
	}
}

var unwrap = both(adds(chains.KindBurn, called(erc20), exactly("amount")),
	adds(chains.KindTransfer, fromCalled, toCaller, native, exactly("amount")))

// permission returns what an allowance of an ERC-20 or ERC-721 is, also through Permit2. An amount
// of 0 takes back that of a built-in token, and of any other it may be the number of an NFT that is
// handed over.
func (c *Call) permission(asset chains.Asset, amount *value) (chains.Kind, chains.Quantity) {
	if _, fungible := chains.Listed(asset); fungible && amount.big().Sign() == 0 {
		return chains.KindRevoke, chains.Quantity{}
	}
	return chains.KindApprove, chains.Exactly(amount.big())
}

// unlimitedBits are those of an allowance of any token that counts as one without a limit: 2^96. In
// practice tokens have at most 2^128 units, and some store allowances in 96 bits.
const unlimitedBits = 97

// isUnlimited reports whether an allowance of an asset counts as one without a limit: 2^96 units, or more
// than there is of a token whose decimals are known. It is the one rule for transactions and messages.
func isUnlimited(asset chains.Asset, amount *big.Int) bool {
	address, ok := addressOf(asset.Token)
	return amount.BitLen() >= unlimitedBits || chains.ExceedsSupply(asset, amount) ||
		ok && IsTIP20(address) && TempoName(chainOf(asset)) != "" && amount.Cmp(maxTIP20) > 0
}
