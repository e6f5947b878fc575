package evm

import "github.com/countersign-dev/countersign/chains"

// A part sets a member of an effect from the arguments of a call. Names lead to an argument, and on
// to a member of it.
type part func(c *Call, effect *chains.Effect)

// adds is for functions with one effect, whose members its parts set. What they do not set is as
// add completes it.
func adds(kind chains.Kind, parts ...part) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		effect := chains.Effect{Kind: kind}
		for _, set := range parts {
			set(c, &effect)
		}
		e.add(c, effect)
	}
}

// both is for functions with the effects of two.
func both(first, second func(*emitter, *Call)) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		first(e, c)
		second(e, c)
	}
}

var (
	fromCalled  part = func(c *Call, effect *chains.Effect) { effect.From = c.party(c.self) }
	fromUnknown part = func(_ *Call, effect *chains.Effect) { effect.From = chains.UnknownParty() }
	standing    part = func(_ *Call, effect *chains.Effect) { effect.By = chains.ByStanding }

	toCaller  part = func(c *Call, effect *chains.Effect) { effect.To = c.callerParty() }
	toCalled  part = func(c *Call, effect *chains.Effect) { effect.To = c.party(c.self) }
	toZero    part = func(c *Call, effect *chains.Effect) { effect.To = c.party(Address{}) }
	toUnknown part = func(_ *Call, effect *chains.Effect) { effect.To = chains.UnknownParty() }

	ofCaller part = func(c *Call, effect *chains.Effect) { effect.Account = c.callerParty() }
	ofCalled part = func(c *Call, effect *chains.Effect) { effect.Account = c.party(c.self) }

	native       part = func(c *Call, effect *chains.Effect) { effect.Asset = c.native() }
	unknownAsset part = func(c *Call, effect *chains.Effect) { effect.Asset = chains.UnknownAsset(c.pass.ID) }

	ownValue      part = func(c *Call, effect *chains.Effect) { effect.Amount = chains.Exactly(c.value) }
	everything    part = func(_ *Call, effect *chains.Effect) { effect.Amount = chains.All() }
	unlimited     part = func(_ *Call, effect *chains.Effect) { effect.Amount = chains.Unlimited(nil) }
	unknownAmount part = func(_ *Call, effect *chains.Effect) { effect.Amount = chains.UnknownQuantity() }
)

func from(names ...string) part {
	return func(c *Call, effect *chains.Effect) { effect.From = c.addressOf(names...) }
}

// signedBy is from for an account whose signature is among the arguments.
func signedBy(names ...string) part {
	return func(c *Call, effect *chains.Effect) {
		effect.From, effect.By, effect.OtherSigner = c.addressOf(names...), chains.ByOther, c.addressOf(names...)
	}
}

func to(names ...string) part {
	return func(c *Call, effect *chains.Effect) { effect.To = c.addressOf(names...) }
}

func over(names ...string) part {
	return func(c *Call, effect *chains.Effect) { effect.Account = c.addressOf(names...) }
}

// called is the called contract as an asset.
func called(standard string) part {
	return func(c *Call, effect *chains.Effect) { effect.Asset = c.token(standard) }
}

// token is the asset at an address in the arguments.
func token(standard string, names ...string) part {
	return func(c *Call, effect *chains.Effect) { effect.Asset = c.tokenIn(standard, names...) }
}

func exactly(name string) part {
	return func(c *Call, effect *chains.Effect) { effect.Amount = c.exactly(name) }
}

func atMost(name string) part {
	return func(c *Call, effect *chains.Effect) { effect.Amount = chains.AtMost(c.arg(name).big()) }
}

func atLeast(name string) part {
	return func(c *Call, effect *chains.Effect) { effect.Amount = chains.AtLeast(c.arg(name).big()) }
}

// allowing is the amount that another party may spend. Zero takes the permission back.
func allowing(name string) part {
	return func(c *Call, effect *chains.Effect) {
		if effect.Amount = c.allowance(name); effect.Amount.IsNone() {
			effect.Kind = chains.KindRevoke
		}
	}
}

// allowingAll is a permission over everything if a bool is true, and takes it back otherwise.
func allowingAll(name string) part {
	return func(c *Call, effect *chains.Effect) {
		if effect.Amount = operator(c.arg(name).yes()); effect.Amount.IsNone() {
			effect.Kind = chains.KindRevoke
		}
	}
}
