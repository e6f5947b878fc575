package evm

import (
	"cmp"
	"encoding/hex"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// Effects returns what the call does, including the calls in its arguments, as far as
// the bytes say. What is not known is a KindCall that is not decoded.
func (c *Call) Effects() []chains.Effect {
	return c.AppendEffects(make([]chains.Effect, 0, fewEffects))
}

// AppendEffects appends what Effects returns.
func (c *Call) AppendEffects(effects []chains.Effect) []chains.Effect {
	e := c.pass.emit(effects)
	e.emitCall(c)
	return e.finish()
}

// AppendBatch appends what calls do that are made one after the other, all or none. What
// one of them leaves in a shared contract, a later one may take away.
func (p *Pass) AppendBatch(effects []chains.Effect, calls iter.Seq[*Call]) []chains.Effect {
	e := p.emit(effects)
	for c := range calls {
		e.emitCall(c)
	}
	return e.finish()
}

// emit returns the emitter of the pass, which appends to effects.
func (p *Pass) emit(effects []chains.Effect) *emitter {
	p.emitter = emitter{effects: effects}
	return &p.emitter
}

// finish returns the effects, with what is left in shared contracts.
func (e *emitter) finish() []chains.Effect {
	e.emitLeftovers()
	effects := e.effects
	*e = emitter{}
	return effects
}

// add adds an effect of a call. It is the caller's, authorized by the signature that authorizes
// the call, unless the effect says otherwise.
func (e *emitter) add(c *Call, effect chains.Effect) { e.addMoving(c, effect, effect.Amount) }

// addMoving is add for an effect whose amount says less than is known of what it moves.
func (e *emitter) addMoving(c *Call, effect chains.Effect, amount chains.Quantity) {
	if effect.From.IsNone() {
		effect.From = c.callerParty()
	}
	reclassify(c, &effect)
	if effect.By == "" {
		effect.By, effect.OtherSigner = c.authority()
	}
	effect.Path = cmp.Or(effect.Path, c.path)
	if c.function != nil && effect.Function == "" && !c.typed {
		effect.Function = c.function.signature
		if !c.pass.Brief {
			effect.Args = c.arguments()
		}
	}
	effect.Passage = effect.Kind.Hands() && IsShared(effect.To)
	e.effects = append(e.effects, effect)
	e.updateHoldings(effect, amount)
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
	case chains.KindUnstake, chains.KindMint:
		// What is minted by the caller's authority, or for what the called contract holds, stays minted.
		minted := effect.Kind == chains.KindMint && (effect.From.Equal(caller) || effect.To.Equal(c.party(c.self)))
		if !home && !minted {
			effect.Kind = c.transfer(effect.From, "", effect.To, effect.Asset, effect.Amount).Kind
		}
	case chains.KindTransfer:
		if home && effect.By == "" && !effect.From.Equal(caller) && c.operator == nil && !IsShared(caller) {
			effect.Kind, effect.By, effect.OtherSigner = chains.KindReceive, chains.ByOther, effect.From
		}
	}
	if effect.Kind.Hands() && c.pass.unspendable(effect.To) {
		effect.Kind = chains.KindBurn
	}
	if amount := effect.Amount.Value; effect.Kind == chains.KindApprove && amount != nil &&
		isUnlimited(effect.Asset, amount) {
		effect.Amount = chains.Unlimited(amount)
	}
}

// addUndecoded adds that it is not known what the code of a call does.
func (e *emitter) addUndecoded(c *Call) {
	effect := chains.Effect{Kind: chains.KindCall, From: c.callerParty(), To: c.party(c.code), Undecoded: true}
	if c.unread {
		effect.To = chains.UnknownParty()
	}
	if c.function == nil && len(c.data) >= 4 {
		effect.Function = "0x" + hex.EncodeToString(c.data[:4])
	}
	e.held.clearTaken(c.party(c.self), c.callerParty())
	e.add(c, effect)
}

// isFull reports whether there are more effects than a transaction may have: it cuts off the
// rest (see Cut), so that more need not be added. One too many is needed for that.
func (e *emitter) isFull() bool { return len(e.effects) > chains.MaxEffects }

// upTo yields the indices of a list of some length for as long as more effects may be added.
func (e *emitter) upTo(length int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < length && !e.isFull() && yield(i); i++ {
		}
	}
}

// emitCall adds the effects of a call. If it may fail while the rest stands, shared contracts
// hold what they would hold with it or without it.
func (e *emitter) emitCall(c *Call) {
	switch {
	case e.isFull():
	case c.fallible:
		before, first := slices.Clone(e.held), len(e.effects)
		e.emitExecuted(c)
		e.held.widen(before)
		for i := first; i < len(e.effects); i++ {
			if received := &e.effects[i]; received.Kind == chains.KindReceive {
				received.Amount = chains.AtLeast(new(big.Int)) // nothing if the call fails
			}
		}
	default:
		e.emitExecuted(c)
	}
}

// emitExecuted adds the effects of a call that is made: the native value that goes with it, what
// its function does, and the calls in its arguments.
func (e *emitter) emitExecuted(c *Call) {
	f, holds := c.function, c.plain != nil && c.plain.holds // whether the effects account for the value
	if f != nil {
		holds = f.act.holds
	}
	if !c.delegate && !holds {
		e.emitValue(c)
	}
	switch {
	case c.note:
	case f == nil && c.problem == "" && c.plain != nil && !c.delegate:
		c.plain.effects(e, c)
	case f == nil && c.problem == "" && len(c.data) == 0 && !c.delegate: // nothing but the value
	case f == nil:
		e.addUndecoded(c)
	case c.foreign(), // the code of another contract, over the caller's own storage
		f.at == atAny && !c.typed && c.ofOwn():
		e.addUndecoded(c)
	default:
		if f.at == asClaimed || c.account || c.value.Sign() > 0 && !f.act.payable {
			e.addUndecoded(c)
		}
		f.act.effects(e, c)
	}
	e.emitNested(c.args)
	if f != nil && f.act.after != nil && !c.foreign() {
		f.act.after(e, c)
	}
}

// foreign reports whether the code of another contract runs as the caller, unless it does
// nothing but make calls.
func (c *Call) foreign() bool { return c.delegate && c.function.at != atMultiSend }

// ofOwn reports whether one of our own accounts is called. It is no token: what runs at its address
// (EIP-7702) is not in the bytes.
func (c *Call) ofOwn() bool {
	p := c.pass
	return p.signer != nil && c.self == *p.signer || p.own != nil && p.own(c.party(c.self))
}

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
	if c.note && !c.pass.Brief {
		effect.Args = []chains.Arg{{Name: "data", Value: chains.Bytes("", c.data).Value}}
	}
	e.add(c, effect)
}

// nested is for functions that do nothing but the calls in their arguments.
func nested(*emitter, *Call) {}

// settings is for functions that change something and move nothing.
func settings(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindSettings, Account: c.party(c.self)})
}

// updateHoldings records in the holdings what an effect moves. The amount may say more than the
// effect's: a sweep takes all, and its effect has the least.
func (e *emitter) updateHoldings(effect chains.Effect, amount chains.Quantity) {
	if effect.Asset.IsNone() || effect.From.Equal(effect.To) {
		return
	}
	switch {
	case spends(effect.Kind) && effect.By == chains.ByStanding: // if the permission is there
		e.held.take(effect.From, effect.Asset, chains.UnknownQuantity())
	case spends(effect.Kind):
		e.held.take(effect.From, effect.Asset, amount)
	}
	if effect.Passage {
		e.held.put(effect, amount)
	}
}

// emitLeftovers adds what is left in shared contracts at the end. Each effect names the call that
// brought it, and the authorization of that call.
func (e *emitter) emitLeftovers() {
	for _, held := range e.held {
		if held.isEmpty() {
			continue
		}
		burn := *held.inflow
		burn.Kind, burn.From, burn.Amount, burn.Passage = chains.KindBurn, burn.To, chains.AtLeast(held.least), false
		burn.Path = strings.TrimSuffix(burn.Path, refundPath)
		e.effects = append(e.effects, burn)
	}
}

// refundPath ends the path of effects that are refunds.
const refundPath = "/refund"

// arguments returns the arguments that are single values, as text.
func (c *Call) arguments() (args []chains.Arg) {
	for i := range c.args {
		if v := &c.args[i]; v.kind != kindTuple && v.kind != kindArray && v.calls == nil {
			args = append(args, chains.Arg{Name: v.name, Value: c.text(v)})
		}
	}
	return args
}

func (c *Call) text(v *value) string {
	switch v.kind {
	case kindAddress:
		return c.pass.text(v.address())
	case kindBool:
		return strconv.FormatBool(v.yes())
	case kindBytes, kindString:
		return chains.Bytes("", v.bytes).Value
	case kindFixed:
		return hex.EncodeToString(v.fixed())
	}
	return v.big().String()
}
