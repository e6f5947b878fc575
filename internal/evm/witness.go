package evm

import "github.com/countersign-dev/countersign/chains"

// A spender of Permit2 chooses who gets what a signature permits it to transfer. The witness
// in the signature binds only what the spender's own code checks of it: an address "to" in it
// is the payee only of spenders that are known to send the tokens there and nowhere else.

// The spenders of x402, as x402ExactPermit2Proxy.sol and x402UptoPermit2Proxy.sol of
// coinbase/x402 (contracts/evm) have them at dd927a26. They were deployed through CREATE2, so
// that their addresses commit to their code. Only the facilitator in the witness can use the
// second.
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
