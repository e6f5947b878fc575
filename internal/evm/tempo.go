package evm

import (
	"bytes"
	"math/big"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

// Tempo's precompiles, at known addresses of its two chains. Source: the node tempoxyz/tempo at
// d656ef55, crates/contracts and crates/precompiles, and the ABIs of viem 2.57.20.
const (
	atKeychain        contractSet = "AccountKeychain"
	atTIP20           contractSet = "TIP-20"
	atTIP20Factory    contractSet = "TIP-20 factory"
	atPolicies        contractSet = "TIP-403 registry"
	atFeeManager      contractSet = "fee manager"
	atExchange        contractSet = "stablecoin DEX"
	atChannels        contractSet = "channel reserve"
	atAddressRegistry contractSet = "address registry"
	atReceiveGuard    contractSet = "receive policy guard"
	atStorageCredits  contractSet = "storage credits"
	atValidators      contractSet = "validator config"
)

// precompiles are the precompiles at one address. TIP-20 tokens have all addresses with
// their prefix.
var precompiles = map[Address]contractSet{
	hexAddress("0xaAAAaaAA00000000000000000000000000000000"): atKeychain,
	hexAddress("0x20FC000000000000000000000000000000000000"): atTIP20Factory,
	hexAddress("0x403C000000000000000000000000000000000000"): atPolicies,
	hexAddress("0xfeEC000000000000000000000000000000000000"): atFeeManager,
	hexAddress("0xDEc0000000000000000000000000000000000000"): atExchange,
	hexAddress("0x4d50500000000000000000000000000000000000"): atChannels,
	hexAddress("0xFDC0000000000000000000000000000000000000"): atAddressRegistry,
	hexAddress("0xB10C000000000000000000000000000000000000"): atReceiveGuard,
	hexAddress("0x1060000000000000000000000000000000000000"): atStorageCredits,
	hexAddress("0xCCCCCCCC00000000000000000000000000000000"): atValidators,
	hexAddress("0xCCCCCCCC00000000000000000000000000000001"): atValidators,
}

// tip20Prefix begins the address of every TIP-20 token: 20c0 and ten zeros.
var tip20Prefix = append([]byte{0x20, 0xc0}, make([]byte, 10)...)

// IsTIP20 reports whether an address is one of Tempo's tokens, by its prefix.
func IsTIP20(address Address) bool { return bytes.HasPrefix(address[:], tip20Prefix) }

// IsVirtual reports whether an address is virtual (TIP-1022): what is sent there goes
// to the account that has registered its first four bytes.
//
//	master id 4 ‖ fd × 10 ‖ tag 6
func IsVirtual(address Address) bool { return bytes.Count(address[4:14], []byte{0xfd}) == 10 }

// precompile returns the precompile at an address of Tempo, empty if there is none.
func (n *Network) precompile(address Address) contractSet {
	switch {
	case TempoName(n.ChainID) == "":
		return ""
	case IsTIP20(address):
		return atTIP20
	}
	return precompiles[address]
}

// TIP20Fee returns a fee in 10⁻¹⁸ US dollars, in which gas is priced on Tempo, in the
// smallest unit of a TIP-20 token, which has 6 decimals. It is rounded up.
func TIP20Fee(fee uint256.Int) *big.Int {
	const attodollars = 1e12 // in the smallest unit
	remainder := new(uint256.Int)
	if fee.DivMod(&fee, uint256.NewInt(attodollars), remainder); !remainder.IsZero() {
		fee.AddUint64(&fee, 1)
	}
	return fee.ToBig()
}

// maxTIP20 is what counts as an allowance without a limit of a token on Tempo, in its smallest
// unit: a billion US dollars.
var maxTIP20 = big.NewInt(1e9 * 1e6)

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
	amount := chains.Unlimited(nil)
	if zeros(c.arg("recipient").word) {
		amount = chains.Quantity{} // ends it
	}
	e.addApproval(c, "recipient", c.token(tip20), amount)
}

// setReceivePolicy decides what the caller may be sent. The recovery authority can take
// what is then held back.
func setReceivePolicy(e *emitter, c *Call) {
	settings(e, c)
	recovery := c.arg("recovery authority")
	if !zeros(recovery.word) && !c.addressOf("recovery authority").Equal(c.callerParty()) {
		e.addApproval(c, "recovery authority", chains.UnknownAsset(c.pass.ID), chains.Unlimited(nil))
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
