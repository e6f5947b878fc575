package evm

import (
	"github.com/countersign-dev/countersign/chains"
)

// A forwarder makes a call for the account that signed it, and puts the account's address
// behind the call data (ERC-2771):
//
//	to.call{value: value}(data ‖ from)
//
// A contract that trusts the forwarder takes that account for its caller; for any other one the
// forwarder itself is the caller, and nothing of the account's moves. The call is therefore read
// as one by the account, which is the most that it can do. The types are those of OpenZeppelin's
// MinimalForwarder and ERC2771Forwarder, of GSN's Forwarder and of pos-portal's
// NativeMetaTransaction, where a contract calls itself.

// forwardRequest begins the types of requests to a forwarder.
const forwardRequest = "ForwardRequest(address from,address:target to,uint256 value,uint256 gas,uint256 nonce,"

// forwards adds the effects of a forward request. The account that submits the request pays its
// value: the forwarder passes on what it receives.
func forwards(e *emitter, c *Call) {
	if value := find(c.args, "value"); value != nil && value.big().Sign() > 0 {
		e.add(c, chains.Effect{Kind: chains.KindTransfer, From: c.origin(), By: chains.ByOther,
			OtherSigner: c.origin(), To: c.addressOf("to"),
			Asset: c.native(), Amount: chains.Exactly(value.big())})
	}
	e.signed.Owners = append(e.signed.Owners, Claim{c.addressOf("from"), len(e.effects)})
	if deadline := find(c.args, "deadline"); deadline != nil {
		e.setEndOfAll(c, TimeOf(deadline.big()))
	}
}

// gasFreeTransfer is for a transfer from the account that GasFree's controller has for the user,
// which pays the service provider for it in the same token.
func gasFreeTransfer(e *emitter, c *Call) {
	user, token, until := c.addressOf("user"), c.tokenIn(erc20, "token"), TimeOf(c.arg("deadline").big())
	for _, paid := range []struct {
		to     string
		amount chains.Quantity
	}{{"receiver", c.exactly("value")}, {"serviceProvider", chains.AtMost(c.arg("maxFee").big())}} {
		if paid.to == "serviceProvider" && paid.amount.Value.Sign() == 0 {
			continue
		}
		effect := c.transfer(user, "", c.addressOf(paid.to), token, paid.amount)
		effect.By, effect.OtherSigner = e.requireSignature(c, user)
		effect.Until = until
		e.add(c, effect)
		e.setEnd(c, until)
	}
}
