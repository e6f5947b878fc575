package evm

import (
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// A spender of Permit2 chooses who gets what a signature permits it to transfer. The witness
// in the signature binds only what the spender's own code checks of it: an address "to" in it
// is the payee only of the spenders below, which send the tokens there and nowhere else.

// enforcer is such a spender. It was deployed through CREATE2, so that its address commits to
// its code.
type enforcer struct {
	witness string       // the encoded type that it hashes
	bound   chains.Bound // of what it sends, compared with what is permitted
}

// enforcers are the contracts of x402, as x402ExactPermit2Proxy.sol and
// x402UptoPermit2Proxy.sol of coinbase/x402 (contracts/evm) have them at dd927a26. Only the
// facilitator in the witness can use the second.
var enforcers = map[Address]enforcer{
	hexAddress("0x402085c248EeA27D92E8b30b2C58ed07f9E20001"): {"Witness(address to,uint256 validAfter)", chains.BoundExact},
	hexAddress("0x4020a4f3b7b90CCA423b9FabCC0CE57c6c240002"): {"Witness(address to,address facilitator,uint256 validAfter)", chains.BoundMost},
}

// witnessTransfer is the primary type of a transfer with a witness of those spenders, and
// the types that it refers to.
const witnessTransfer = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)" +
	"TokenPermissions(address token,uint256 amount)"

// PaysWitness reports whether a spender of Permit2 sends what it is permitted to the address
// "to" in the witness of typed data of a type, and how the permitted amount bounds that. Any
// other spender may send it anywhere.
func PaysWitness(spender Address, encodedType string) (bound chains.Bound, ok bool) {
	known, ok := enforcers[spender]
	witness, is := strings.CutPrefix(encodedType, witnessTransfer)
	return known.bound, ok && is && witness == known.witness
}
