package evm

import (
	"encoding/hex"
	"iter"
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// Effects returns what the call does, including the calls in its arguments, as far as
// the bytes say. What is not known is a KindCall that is not decoded.
func (c *Call) Effects() []chains.Effect {
	return c.AppendEffects(make([]chains.Effect, 0, fewEffects))
}

// AppendEffects appends what Effects returns.
func (c *Call) AppendEffects(effects []chains.Effect) []chains.Effect {
	e := &c.emitter // which escapes: allocated with the call
	*e = emitter{effects: effects}
	e.emitCall(c)
	e.emitLeftovers()
	effects = e.effects
	*e = emitter{}
	return effects
}

// AppendBatch appends what calls do that are made one after the other, all or none. What
// one of them leaves in a shared contract, a later one may take away.
func AppendBatch(effects []chains.Effect, calls iter.Seq[*Call]) []chains.Effect {
	e := &emitter{effects: effects}
	for c := range calls {
		e.emitCall(c)
	}
	e.emitLeftovers()
	return e.effects
}

// fewEffects is how many effects most transactions have, the fee included.
const fewEffects = 2

// emitter collects effects.
type emitter struct {
	effects []chains.Effect
	held    holdings
	signed  *Signed // of typed data
}

// add adds an effect of a call. It is authorized by the signature that authorizes the
// call, unless the effect says otherwise.
func (e *emitter) add(c *Call, effect chains.Effect) { e.addMoving(c, effect, effect.Amount) }

// addMoving is add for an effect whose amount says less than is known of what it moves.
func (e *emitter) addMoving(c *Call, effect chains.Effect, amount chains.Quantity) {
	reclassify(c, &effect)
	if effect.By == "" {
		effect.By, effect.OtherSigner = c.authority()
	}
	if effect.Path == "" {
		effect.Path = c.path
	}
	if c.function != nil && effect.Function == "" && !c.typed {
		effect.Function = c.function.signature
		if !c.network.Brief {
			effect.Args = c.arguments()
		}
	}
	effect.Passage = effect.Kind.Hands() && c.network.IsShared(effect.To)
	e.effects = append(e.effects, effect)
	e.updateHoldings(c, effect, amount)
}

// authority returns the authorization of a call, and whose it is if it is another's.
func (c *Call) authority() (chains.By, chains.Party) {
	if c.operator != nil {
		return chains.ByOther, c.party(*c.operator)
	}
	return chains.BySigner, chains.Party{}
}

// reclassify says what an effect is by who gains from it. What the caller's value becomes is
// unstaked or minted for the caller; if another party gets it, it is transferred,
// whatever the function is called. What a contract pays to the caller, the caller receives:
// what it gave for that is an effect before. Not so if another signature authorizes the call, or
// if the caller is a contract that acts for everyone: what they get is no one else's price.
func reclassify(c *Call, effect *chains.Effect) {
	caller := c.callerParty()
	home := effect.To.IsNone() || effect.To.Equal(caller)
	switch effect.Kind {
	case chains.KindUnstake:
		if !home {
			effect.Kind = chains.KindTransfer
		}
	case chains.KindMint: // by the caller's authority, or of what the called contract holds for it
		if !home && !effect.From.Equal(caller) && !effect.To.Equal(c.party(c.self)) {
			effect.Kind = chains.KindTransfer
		}
	case chains.KindTransfer:
		if home && effect.By == "" && !effect.From.Equal(caller) && c.operator == nil && !c.network.IsShared(caller) {
			effect.Kind, effect.By, effect.OtherSigner = chains.KindReceive, chains.ByOther, effect.From
		}
	}
	if effect.Kind.Hands() && c.network.unspendable(effect.To) {
		effect.Kind = chains.KindBurn
	}
	unlimit(effect)
}

// addUndecoded adds that it is not known what the code of a call does.
func (e *emitter) addUndecoded(c *Call) {
	effect := chains.Effect{Kind: chains.KindCall, From: c.callerParty(), To: c.codeParty(), Undecoded: true}
	if c.function == nil && len(c.data) >= 4 {
		effect.Function = "0x" + hex.EncodeToString(c.data[:4])
	}
	e.held.clearTaken(c)
	e.add(c, effect)
}

// isFull reports whether there are more effects than a transaction may have: it cuts off the
// rest (see Cut), so that more need not be added. One too many is needed for that.
func (e *emitter) isFull() bool { return len(e.effects) > chains.MaxEffects }

// emitCall adds the effects of a call. If it may fail while the rest stands, shared contracts
// hold what they would hold with it or without it.
func (e *emitter) emitCall(c *Call) {
	switch {
	case e.isFull():
	case c.fallible:
		before, first := slices.Clone(e.held), len(e.effects)
		e.emitExecuted(c)
		e.held.widen(before)
		unboundReceipts(e.effects[min(first, len(e.effects)):])
	default:
		e.emitExecuted(c)
	}
}

// unboundReceipts makes nothing the least that is received, as it is if a call fails.
func unboundReceipts(effects []chains.Effect) {
	for i := range effects {
		if received := &effects[i]; received.Kind == chains.KindReceive {
			received.Amount = chains.AtLeast(new(big.Int))
		}
	}
}

// emitExecuted adds the effects of a call that is made: the native value that goes with it, what
// its function does, and the calls in its arguments.
func (e *emitter) emitExecuted(c *Call) {
	f := c.function
	if !c.delegate && !c.holds() {
		e.emitValue(c)
	}
	switch {
	case c.note:
	case f == nil && len(c.data) == 0 && c.problem == "":
		e.emitReceived(c)
	case f == nil && c.problem == "":
		e.emitRaw(c)
	case f == nil:
		e.addUndecoded(c)
	case c.foreign():
		e.addUndecoded(c) // the code of another contract, over the caller's own storage
	default:
		e.emitFunction(c)
	}
	e.emitNested(c.args)
	if f != nil && f.act.after != nil && !c.foreign() {
		f.act.after(e, c)
	}
}

// foreign reports whether the code of another contract runs as the caller, unless it does
// nothing but make calls.
func (c *Call) foreign() bool { return c.delegate && c.function.at != atMultiSend }

// holds reports whether the effects of the call account for its value.
func (c *Call) holds() bool {
	if c.function == nil {
		return len(c.data) == 0 && c.network.isKnown(c.code, atEntryPoint) || c.createsContract()
	}
	return c.function.act.holds
}

// ofOwn reports whether one of our own accounts is called. It is no token: what runs at its address
// (EIP-7702) is not in the bytes.
func (c *Call) ofOwn() bool {
	n := c.network
	return n.Signer != nil && c.self == *n.Signer || n.Own != nil && n.Own(c.party(c.self))
}

// emitFunction adds what a decoded function does.
func (e *emitter) emitFunction(c *Call) {
	if c.function.at == atAny && !c.typed && c.ofOwn() {
		e.addUndecoded(c)
		return
	}
	if f := c.function; f.at == asClaimed || c.account || c.value.Sign() > 0 && !f.act.payable {
		e.addUndecoded(c)
	}
	c.function.act.effects(e, c)
}

// emitNested adds the effects of the calls in arguments.
func (e *emitter) emitNested(values []value) {
	for i := range values {
		for _, call := range values[i].calls {
			e.emitCall(call)
		}
		e.emitNested(values[i].list)
	}
}

// emitValue adds the native value that goes with a call. A transaction still names its
// recipient if it does nothing else.
func (e *emitter) emitValue(c *Call) {
	if c.value.Sign() == 0 && (c.depth > 0 || len(c.data) > 0) {
		return
	}
	effect := chains.Effect{Kind: chains.KindTransfer, From: c.callerParty(), To: c.party(c.self), Asset: c.native(),
		Amount: chains.Exactly(c.value)}
	if c.note && !c.network.Brief {
		effect.Args = []chains.Arg{{Name: "data", Value: chains.Bytes("", c.data).Value}}
	}
	e.add(c, effect)
}

// emitReceived adds what known contracts do that get value without a call.
func (e *emitter) emitReceived(c *Call) {
	switch {
	case c.delegate:
		e.addUndecoded(c)
	case c.network.isKnown(c.code, atWETH):
		wrap(e, c)
	case c.network.isKnown(c.code, atEntryPoint):
		depositFor(e, c, c.callerParty())
	}
}

// nested is for functions that do nothing but the calls in their arguments.
func nested(*emitter, *Call) {}

// settings is for functions that change something and move nothing.
func settings(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindSettings, From: c.callerParty(), Account: c.party(c.self)})
}

func (c *Call) native() chains.Asset { return chains.Native(c.network.ID) }

// token returns the called contract as an asset.
func (c *Call) token(standard string) chains.Asset {
	return chains.Token(c.network.ID, c.party(c.self), standard)
}

// tokenAt returns the asset at an address.
func (c *Call) tokenAt(address Address, standard string) chains.Asset {
	return chains.Token(c.network.ID, c.party(address), standard)
}

// numbered returns one token of a collection, or of a multi-token contract.
func numbered(asset chains.Asset, id *big.Int) chains.Asset {
	asset.NFT = id
	return asset
}

// party returns the account at an address.
func (c *Call) party(address Address) chains.Party { return c.network.Party(address) }

// callerParty returns the account that makes the call.
func (c *Call) callerParty() chains.Party {
	if c.caller.signer {
		return chains.SignerParty()
	}
	return c.party(c.caller.address)
}

// codeParty returns the account whose code runs, unknown if it cannot be read.
func (c *Call) codeParty() chains.Party {
	if c.unread {
		return chains.UnknownParty()
	}
	return c.party(c.code)
}

// addressOf returns the account that an argument names.
func (c *Call) addressOf(name string) chains.Party { return c.party(c.arg(name).address()) }

// arguments returns the arguments that are single values, as text.
func (c *Call) arguments() (args []chains.Arg) {
	for i := range c.args {
		if v := &c.args[i]; v.kind != kindTuple && v.kind != kindArray && v.calls == nil {
			args = append(args, chains.Arg{Name: v.name, Value: c.text(v)})
		}
	}
	return args
}

// text formats a single value.
func (c *Call) text(v *value) string {
	switch v.kind {
	case kindAddress:
		return c.network.text(v.address())
	case kindBool:
		if v.yes() {
			return "true"
		}
		return "false"
	case kindBytes, kindString:
		return chains.Bytes("", v.bytes).Value
	case kindFixed:
		return hex.EncodeToString(v.fixed())
	}
	return v.big().String()
}
