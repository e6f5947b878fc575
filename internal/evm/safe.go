package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// The gas that a Safe measures beyond the limit of the call itself: at most what
// a CALL with value to a new account costs (36,600), and copying the data to memory that
// was used before, for the hash. interop/evm holds both against execution.
const (
	refundOverhead        = 40_000
	refundOverheadPerByte = 4
)

// addSafePayment adds a payment of a Safe for gas or for its creation: of a token, the native
// asset if that is zero, to a receiver, or to the origin of the Ethereum transaction if that is zero.
func (e *emitter) addSafePayment(c *Call, token, receiver Address, amount chains.Quantity) {
	to := c.party(receiver)
	if receiver == (Address{}) {
		to = c.origin()
	}
	effect := c.transfer(c.party(c.self), "", to, c.routerAsset(token), amount)
	effect.By, effect.OtherSigner = c.authority() // the owners', also if the caller gets it
	effect.Path = c.path + refundPath
	e.add(c, effect)
}

// executes is for the transaction of a Safe, which makes a call, or a delegatecall.
func executes(_ *emitter, c *Call) {
	if c.typed && c.arg("operation").big().Cmp(one) > 0 {
		c.problem = "an operation that no Safe has"
	}
}

// execTransaction adds what a Safe pays for the gas of a transaction, which is nothing if the
// price is 0:
//
//	(gas that the call used + base gas) · gas price
func execTransaction(e *emitter, c *Call) {
	price := c.arg("gas price").big()
	if price.Sign() == 0 {
		return
	}
	most := big.NewInt(refundOverhead + refundOverheadPerByte*int64(len(c.arg("call").bytes)))
	most.Add(most, c.arg("safe tx gas").big()).Add(most, c.arg("base gas").big()).Mul(most, price)
	amount := chains.AtMost(most)
	if most.BitLen() > 256 || c.pass.ChainID == zkSyncEra { // whose gas is another unit
		amount = chains.Unlimited(nil)
	}
	e.addSafePayment(c, c.arg("gas token").address(), c.arg("refund receiver").address(), amount)
}

// setupSafe adds who owns a new Safe, and what it pays for its creation.
func setupSafe(e *emitter, c *Call) {
	if payment := c.arg("payment").big(); payment.Sign() > 0 {
		e.addSafePayment(c, c.arg("payment token").address(), c.arg("payment receiver").address(),
			chains.AtMost(payment))
	}
	owners := c.arg("owners").list
	for i := range e.upTo(len(owners)) {
		e.add(c, chains.Effect{Kind: chains.KindAuthority, To: c.party(owners[i].address()), Account: c.party(c.self)})
	}
}
