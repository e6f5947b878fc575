package policy

import (
	"math/big"
	"slices"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/chains"
)

// effectView is an effect as seen by expressions.
type effectView struct {
	*chains.Effect
	index    int
	known    *vocabulary
	words    *chains.Words                             // of its addresses
	unnamed  func(network string, address []byte) bool // chains.Words.Unnamed of the chain
	object   object                                    // its value in expressions
	members  [maxCompared]memberValue                  // those that are compared, once they are
	reading  *chains.Reading
	paid     bool       // it is change, and there is nothing else: see setPurposes
	alone    bool       // it is a fee, and there is nothing else
	net      *big.Int   // of what is received: see setOff
	passedOn bool       // if something is received: see setOff
	quotes   *priceList // of the file
	now      time.Time  // at which the prices count
	worth    *big.Int   // what it spends, once a condition asks
	unpriced string     // or why that is not known
}

func newEffectViews(known *vocabulary, effects []chains.Effect, chain string, readings chains.Readings) []effectView {
	views := make([]effectView, len(effects))
	said := known.chains[chain]
	for i := range effects {
		views[i] = effectView{Effect: &effects[i], index: i, known: known}
		if said != nil {
			views[i].words, views[i].unnamed = said, said.Unnamed
		} else {
			views[i].words = known.ofNetwork(effects[i].Asset.Chain) // a message has no chain; its effects name theirs
		}
		views[i].object = object{kind: effectType, of: &views[i]}
		if reading, ok := readings.Of(&effects[i]); ok && reading.Function != "" {
			views[i].reading = &reading
		}
	}
	return views
}

// maxCompared bounds the members that clauses compare without a program.
const maxCompared = 6

// memberValue is the value of a member, or why it has none.
type memberValue struct {
	value ref.Val
	err   error
}

// party returns a party as an address. name is what errors call it.
func (e *effectView) party(party chains.Party, name string) (ref.Val, error) {
	switch {
	case party.IsNone():
		return nil, absent(name)
	case party.IsUnknown(), party.IsSigner():
		return nil, unknown(name)
	}
	raw := party.Address()
	read := &address{words: e.words, bytes: string(raw), text: party.Shown()}
	if name == "effect.to" {
		read.owners = e.Owners
	}
	switch {
	case e.isUnnamed(raw):
		return nil, unknown(name)
	case e.words.Namespace == "": // an effect without an asset, in a message: the size determines the chain
		read.words = e.known.ofSize(len(read.bytes))
	case e.words.TokenAccounts != nil && !e.Asset.IsUnknown():
		read.mint = string(e.Asset.Token.Address())
	}
	if read.words.Namespace == "" {
		return nil, unknown(name)
	}
	return read, nil
}

// isUnnamed reports whether an address stands for an account that the bytes do not name.
func (e *effectView) isUnnamed(address []byte) bool {
	return e.unnamed != nil && e.unnamed(e.Asset.Chain, address)
}

// mine returns whether the recipient is an account of the organization. Of a recipient
// that the bytes do not name, and without the keystore, that is unknown.
func (e *effectView) mine() (ref.Val, error) {
	if e.Controlled == chains.ControlledUnknown || e.isUnnamed(e.To.Address()) {
		return nil, unknown("effect.mine")
	}
	return types.Bool(e.Controlled == chains.ControlledYes), nil
}

// amount returns the amount if it has an upper bound. Of what is received, it returns the
// least that is more than is given of it, which is what a rule can require.
func (e *effectView) amount() (ref.Val, error) {
	switch {
	case e.Amount.IsNone():
		return nil, absent("effect.amount")
	case e.net != nil && !e.Asset.IsUnknown():
		return &amount{value: e.net, unit: unit{asset: e.Asset}}, nil
	case e.Amount.IsUnknown(), e.Asset.IsUnknown():
		return nil, unknown("effect.amount")
	}
	return &amount{value: e.Amount.Value, unit: unit{asset: e.Asset}}, nil
}

func (e *effectView) asset() (ref.Val, error) {
	switch {
	case e.Asset.IsNone():
		return nil, absent("effect.asset")
	case e.Asset.IsUnknown():
		return nil, unknown("effect.asset")
	}
	return &asset{Asset: e.Asset}, nil
}

func (e *effectView) until() (ref.Val, error) {
	switch {
	case e.Until.IsNone():
		return nil, absent("effect.until")
	case e.Until.Time.IsZero():
		return nil, unknown("effect.until")
	}
	return types.Timestamp{Time: e.Until.Time}, nil
}

// argument returns an argument of the effect by name. An account that the bytes do not name is
// unknown.
func (e *effectView) argument(name string) ref.Val {
	if slices.Contains(e.Unresolved, name) {
		return types.WrapErr(unknown("effect.arg('" + shorten(name) + "')"))
	}
	return argument(e.Args, "effect", name)
}

// number returns an argument that is an integer of 64 bits with a sign. Any other is unknown.
func (e *effectView) number(name string) ref.Val {
	text, ok := e.argument(name).(types.String)
	if !ok {
		return e.argument(name) // the error
	}
	number, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return types.NewErr("effect.number('%s') is %q, which is no integer of 64 bits",
			shorten(name), shorten(string(text)))
	}
	return types.Int(number)
}

// argument returns the argument of a call that has a name. owner is the object that has it.
func argument(args []chains.Arg, owner, name string) ref.Val {
	asked := owner + ".arg('" + shorten(name) + "')"
	found := types.WrapErr(absent(asked))
	for i := range args {
		switch {
		case args[i].Name != name:
		case !types.IsError(found):
			return types.NewErr("%s: two arguments have this name, so that it names neither", asked)
		default:
			found = types.String(args[i].Value)
		}
	}
	return found
}

// What is received is a price only of what the same account gives, and only as far as it is more
// than that account gives of the same asset: tokens that go to a router and come back from its
// sweep, or ether that was wrapped for it, are no proceeds.

// setOff sets the net amounts of what is received, and whether effects are of what a contract
// passes on that acts for everyone.
func setOff(effects []effectView) {
	for i := range effects {
		passes := effects[i].known.ofNetwork(effects[i].Asset.Chain).PassesOn
		effects[i].passedOn = passes != nil && passes(effects[i].From)
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
				before := &effects[j]
				same := before.Kind == chains.KindReceive && received.sameMoney(before) && before.To.Equal(received.To)
				if same && before.Amount.Value != nil {
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
	wraps := e.known.ofNetwork(e.Asset.Chain).Wraps
	return e.Asset.IsNative() || wraps != nil && wraps(e.Asset)
}

// prices reports whether what is received may be the price of what an effect takes. What a
// contract passes on that acts for everyone is its caller's.
func (e *effectView) prices(taken *effectView) bool {
	return taken.pricedByAny() || e.To.IsNone() || taken.From.Equal(e.To)
}

// pricedByAny reports whether whatever is received may be the price of an effect.
func (e *effectView) pricedByAny() bool {
	takes := e.Kind.Spends() || e.Kind == chains.KindCall
	return !takes || e.passedOn || e.From.IsNone()
}

// counted reports whether the effect spends something that a limit counts.
func (e *effectView) counted() bool {
	return e.Kind.Spends() && e.judged() && !e.Amount.IsNone()
}

// judged reports whether the effect is by our authorization, and neither change beside something
// else nor of a kind that needs no allow.
func (e *effectView) judged() bool {
	return e.By != chains.ByOther && (!e.Change || e.paid) && e.Kind.NeedsCover()
}

func indexOf(effect *effectView) int {
	if effect == nil {
		return -1
	}
	return effect.index
}

// value returns what the effect spends in the currency of the file's prices.
func (e *effectView) value() (ref.Val, error) {
	if !e.counted() {
		return nil, absent("effect.value")
	}
	value, why := e.priced()
	if why != "" {
		return nil, unpriced("effect.value is unknown: " + why)
	}
	return &amount{value: value, unit: unit{value: true}}, nil
}

// unpriced is why a value is not known. has() is true all the same: no price file
// decides it, so that a condition which tests it first is an error without prices, and not false.
type unpriced string

func (u unpriced) Error() string { return string(u) }

// priced returns what quotes say of the effect, which is found out once.
func (e *effectView) priced() (value *big.Int, why string) {
	if e.worth == nil && e.unpriced == "" {
		e.worth, e.unpriced = e.quotes.value(e, e.now)
	}
	return e.worth, e.unpriced
}

// value returns what an effect spends in the smallest unit of the currency, rounded up, or why
// that is not known.
func (p *priceList) value(effect *effectView, now time.Time) (value *big.Int, why string) {
	switch why = p.unusable(now); {
	case why != "":
		return nil, why
	case effect.Asset.IsUnknown():
		return nil, "its asset is unknown"
	case effect.Amount.IsUnknown() || effect.Counted().Value.Sign() < 0:
		return nil, "its amount is not bounded"
	}
	of, amount := p.quotes[identity(effect.Asset)], effect.Counted().Value
	if of == nil || !of.Equal(effect.Asset) {
		return nil, "there is no price of " + assetText(effect.Asset)
	}
	exponent := big.NewInt(int64(of.decimals + priceDecimals - valueDecimals))
	unit := exponent.Exp(big.NewInt(10), exponent, nil)
	value, rest := new(big.Int).QuoRem(new(big.Int).Mul(amount, of.price), unit, new(big.Int))
	if rest.Sign() > 0 {
		value.Add(value, big.NewInt(1))
	}
	return value, ""
}
