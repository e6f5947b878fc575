package policy

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// What is received is a price only of what the same account gives, and only as far as it is more
// than that account gives of the same asset: tokens that go to a router and come back from its
// sweep, or ether that was wrapped for it, are no proceeds.

// setOff sets the net amounts of what is received, and whether effects are of what a contract
// passes on that acts for everyone.
func setOff(effects []effectView) {
	for i := range effects {
		passes := words().namespaces[namespaceOf(effects[i].Asset.Chain)].PassesOn
		effects[i].passedOn = passes != nil && passes(effects[i].Asset.Chain, effects[i].From)
	}
	for i := range effects {
		received := &effects[i]
		if received.Kind != chains.KindReceive || received.Amount.Value == nil {
			continue
		}
		received.net = new(big.Int)
		if spent, bounded := spentOf(effects, received); bounded {
			received.net.Set(received.Amount.Value)
			for j := range i { // what was received before is set off first
				if before := &effects[j]; before.Kind == chains.KindReceive && received.sameMoney(before) && before.To.Equal(received.To) && before.Amount.Value != nil {
					spent.Sub(spent, before.Amount.Value)
				}
			}
			if spent.Sign() > 0 {
				received.net.Sub(received.net, spent)
			}
			if received.net.Sign() < 0 {
				received.net.SetInt64(0)
			}
		}
	}
}

// spentOf returns the most that an account which receives an asset gives of it, without approvals
// and the fee; bounded is false if nothing bounds that.
func spentOf(effects []effectView, received *effectView) (sum *big.Int, bounded bool) {
	sum = new(big.Int)
	for i := range effects {
		spent := &effects[i]
		switch {
		case !spent.counted() || spent.Kind == chains.KindApprove || spent.Kind == chains.KindFee:
		case !spent.From.Equal(received.To) || !received.sameMoney(spent):
		case spent.Amount.IsUnknown():
			return nil, false
		default:
			sum.Add(sum, spent.Amount.Value)
		}
	}
	return sum, true
}

// sameMoney reports whether two effects of one payload are of the same asset, or of the native one
// and its wrapped form.
func (e *effectView) sameMoney(other *effectView) bool {
	if e.Payload() != other.Payload() {
		return false
	}
	return e.Asset.Equal(other.Asset) || e.Asset.Chain == other.Asset.Chain && e.isMoney() && other.isMoney()
}

// isMoney reports whether an effect is of the native asset or of its wrapped form.
func (e *effectView) isMoney() bool {
	wraps := words().namespaces[namespaceOf(e.Asset.Chain)].Wraps
	return e.Asset.IsNative() || wraps != nil && wraps(e.Asset)
}

// prices reports whether what is received may be the price of what an effect takes. What a
// contract passes on that acts for everyone is its caller's.
func (e *effectView) prices(taken *effectView) bool {
	takes := taken.Kind.Spends() || taken.Kind == chains.KindCall
	return !takes || taken.passedOn || taken.From.IsNone() || e.To.IsNone() || taken.From.Equal(e.To)
}

// sees reports whether a condition sees an effect: one of its payload and, of what is received,
// what the account gets whose assets leave. A rule on the request sees what is received if
// nothing leaves another account.
func (e *evaluation) sees(effect *effectView) bool {
	switch {
	case e.payload != "" && effect.Payload() != e.payload:
		return false
	case e.hidden && effect.Kind == chains.KindReceive:
		return false
	case effect.Kind != chains.KindReceive:
		return true
	case e.current != nil:
		return effect.prices(e.current)
	}
	for i := range e.effects {
		taken := &e.effects[i]
		if taken.judged() && taken.Kind != chains.KindFee && taken.Payload() == effect.Payload() && !effect.prices(taken) {
			return false
		}
	}
	return true
}
