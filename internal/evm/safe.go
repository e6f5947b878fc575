package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// safeRefund is what a Safe pays for the gas of a transaction:
//
//	(gas that the call used + BaseGas) · GasPrice
//
// of Token, the native asset if that is zero, to Receiver, or to the origin of the
// Ethereum transaction if that is zero. If GasPrice is 0 or nil, it is nothing.
type safeRefund struct {
	SafeTxGas, BaseGas, GasPrice *big.Int
	Token, Receiver              Address
	DataSize                     int // bytes of the call's data
}

// The gas that a Safe measures beyond SafeTxGas, the limit of the call itself: at most what
// a CALL with value to a new account costs (36,600), and copying the data to memory that
// was used before, for the hash. interop/evm holds both against execution.
const (
	refundOverhead        = 40_000
	refundOverheadPerByte = 4
)

// most returns the most that is paid, in units of the token.
func (r *safeRefund) most(n *Network) chains.Quantity {
	gas := big.NewInt(refundOverhead + refundOverheadPerByte*int64(r.DataSize))
	gas.Add(gas, r.SafeTxGas).Add(gas, r.BaseGas)
	most := gas.Mul(gas, r.GasPrice)
	if most.BitLen() > 256 || n.ChainID == zkSyncEra { // whose gas is another unit
		return chains.Unlimited(nil)
	}
	return chains.AtMost(most)
}

// addRefund adds the refund of a transaction of the Safe c.self.
func (e *emitter) addRefund(c *Call, r safeRefund) {
	if r.GasPrice != nil && r.GasPrice.Sign() > 0 {
		e.addSafePayment(c, r.Token, r.Receiver, r.most(c.pass.Network))
	}
}

// addSafePayment adds a payment of a Safe for gas or for its creation.
func (e *emitter) addSafePayment(c *Call, token, receiver Address, amount chains.Quantity) {
	effect := chains.Effect{Kind: chains.KindTransfer, From: c.party(c.self), To: c.party(receiver),
		Asset: c.routerAsset(token), Amount: amount,
		Path: c.path + refundPath}
	effect.By, effect.OtherSigner = c.authority() // the owners', also if the caller gets it
	switch receiver {
	case Address{}:
		effect.To = c.origin()
	case token:
		effect.Kind = chains.KindBurn
	}
	e.add(c, effect)
}

// executes is for the transaction of a Safe, which makes a call, or a delegatecall.
func executes(_ *emitter, c *Call) {
	if c.typed && c.arg("operation").big().Cmp(one) > 0 {
		c.problem = "an operation that no Safe has"
	}
}

// execTransaction adds the refund of a Safe's transaction.
func execTransaction(e *emitter, c *Call) {
	e.addRefund(c, safeRefund{SafeTxGas: c.arg("safe tx gas").big(), BaseGas: c.arg("base gas").big(),
		GasPrice: c.arg("gas price").big(),
		Token:    c.arg("gas token").address(), Receiver: c.arg("refund receiver").address(),
		DataSize: len(c.arg("call").bytes)})
}

// setupSafe adds who owns a new Safe, and what it pays for its creation.
func setupSafe(e *emitter, c *Call) {
	if payment := c.arg("payment").big(); payment.Sign() > 0 {
		e.addSafePayment(c, c.arg("payment token").address(), c.arg("payment receiver").address(),
			chains.AtMost(payment))
	}
	owners := c.arg("owners").list
	for i := range e.upTo(len(owners)) {
		e.addControl(c, c.self, c.party(owners[i].address()))
	}
}
