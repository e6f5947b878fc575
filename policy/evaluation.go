package policy

import (
	"math/big"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
)

// evaluation is the judgement of one request. It resolves the variables of expressions.
// It must be used by one goroutine.
type evaluation struct {
	request *access.Authorization
	known   *vocabulary
	chain   string // of the transaction: "ethereum", …; empty without one
	effects []effectView
	current *effectView // what effect is bound to; nil in a rule on the request
	payload string      // whose effects a condition sees; empty: all

	effectList ref.Val // of listedIn
	listedIn   sight
	receives   bool // something is received
	hidden     bool // a condition does not see what is received: it does not ask for it
	details    *details
	answers    map[question]answer // of clauses, as far as they are kept
	most       int                 // of them
	steps      uint64              // that conditions have taken
	value      func() (ref.Val, error)
}

// sight is what the effects that a condition sees depend on.
type sight struct {
	payload string
	hidden  bool
	by      string // whose price what is received may be
}

func newEvaluation(j *judge, request *access.Authorization) *evaluation {
	known := j.words
	e := &evaluation{request: request, known: known, chain: request.Chain, most: j.answers}
	e.value = sync.OnceValues(e.worth)
	e.effects = newEffectViews(known, request.Effects, e.chain, request.Readings)
	for i := range e.effects {
		e.effects[i].quotes, e.effects[i].now = j.prices, request.Now
		e.receives = e.receives || e.effects[i].Kind == chains.KindReceive
	}
	if e.receives {
		setOff(e.effects)
	}
	e.setPurposes("")
	for _, payload := range e.payloads() {
		e.setPurposes(payload)
	}
	return e
}

// setPurposes finds out what a payload is for, empty if the request is for one. A fee is no
// purpose, nor is change, what is received, or what others authorize. If there is nothing but
// change, it is a payment like any other; if there is nothing but a fee, that is alone.
func (e *evaluation) setPurposes(payload string) {
	var change, other bool
	for i := range e.effects {
		effect := &e.effects[i]
		if effect.By == chains.ByOther || !effect.Kind.NeedsCover() || effect.Payload() != payload {
			continue
		}
		change = change || effect.Change
		other = other || !effect.Change && effect.Kind != chains.KindFee
	}
	for i := range e.effects {
		if effect := &e.effects[i]; !other && effect.Payload() == payload {
			effect.paid = change && effect.Change
			effect.alone = !change && effect.Kind == chains.KindFee
		}
	}
}

// bind binds a condition to an effect, or to the request if that is nil, and to the payload whose
// effects it sees. hidden says that it does not see what is received.
func (e *evaluation) bind(effect *effectView, payload string, hidden bool) {
	e.current, e.payload, e.hidden = effect, payload, hidden
}

// payloads returns the payloads of a request for several.
func (e *evaluation) payloads() (names []string) {
	for i := range e.effects {
		if name := e.effects[i].Payload(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (*evaluation) Parent() interpreter.Activation { return nil }

func (e *evaluation) ResolveName(name string) (any, bool) {
	switch name {
	case "effect":
		if e.current == nil {
			return types.WrapErr(absent("effect")), true
		}
		return &e.current.object, true
	case "effects":
		if of := e.sight(); e.effectList == nil || e.listedIn != of {
			e.effectList, e.listedIn = newList(e.visible(func(*chains.Effect) bool { return true })), of
		}
		return e.effectList, true
	case "key":
		if len(e.request.Keys) != 1 {
			return types.NewErr("key: %d keys sign this request", len(e.request.Keys)), true
		}
		return newObject(keyType, &e.request.Keys[0]), true
	case "user":
		return newObject(userType, &e.request.User), true
	case "credential":
		if e.request.Credential == nil {
			return types.WrapErr(absent("credential")), true
		}
		return newObject(credentialType, e), true
	case "wallet":
		if e.request.Wallet == nil {
			return types.NewErr("wallet: the request does not spend from one registered wallet"), true
		}
		return types.String(e.request.Wallet.Name), true
	case "time":
		return newObject(timeType, e), true
	case "request":
		return newObject(requestType, e), true
	}
	return e.detail(name)
}

// visible returns the values of the effects that a condition sees.
func (e *evaluation) visible(pick func(*chains.Effect) bool) (list []ref.Val) {
	for i := range e.effects {
		if of := &e.effects[i]; e.sees(of) && pick(of.Effect) {
			list = append(list, &of.object)
		}
	}
	return list
}

func (e *evaluation) sight() sight {
	of := sight{payload: e.payload, hidden: e.hidden}
	switch {
	case !e.receives || e.hidden:
	case e.current == nil:
		of.by = "request"
	case !e.current.pricedByAny():
		of.by = "from " + e.current.From.String()
	}
	return of
}

// total returns the sum that the request spends of an asset.
func (e *evaluation) total(of *asset) ref.Val {
	sum := new(big.Int)
	for i := range e.effects {
		effect := &e.effects[i]
		switch {
		case !effect.counted():
		case effect.Asset.IsUnknown():
			return types.WrapErr(unknown("request.total: the asset of an effect"))
		case !effect.Asset.Equal(of.Asset):
		case effect.Amount.IsUnknown():
			return types.WrapErr(unknown("request.total: the amount of an effect"))
		default:
			sum.Add(sum, effect.Counted().Value)
		}
	}
	return &amount{value: sum, unit: unit{asset: of.Asset}}
}

// worth returns what the request spends, in the currency of the file's prices.
func (e *evaluation) worth() (ref.Val, error) {
	sum := new(big.Int)
	for i := range e.effects {
		if effect := &e.effects[i]; effect.counted() {
			value, why := effect.priced()
			if why != "" {
				return nil, unpriced("request.value is unknown: " + why)
			}
			sum.Add(sum, value)
		}
	}
	return &amount{value: sum, unit: unit{value: true}}, nil
}

// network returns the CAIP-2 id of the network that a payload is for, which a transaction or
// the domain of typed data names; empty if the bytes name none.
func (e *evaluation) network(payload string) string {
	if e.chain == "" {
		return ""
	}
	said, transaction := e.known.chain(e.chain), isTransaction(e.request)
	if transaction && !said.Numbered {
		return said.Namespace
	}
	key, fields := "chain_id", e.fields()
	if part, ok := chains.Keyed(fields, strings.ReplaceAll(payload, " ", "_")); ok && payload != "" {
		fields = part.Fields
	}
	if domain, ok := chains.Keyed(fields, "domain"); ok && !transaction {
		fields, key = domain.Fields, "chainId"
	}
	id, ok := chains.Keyed(fields, key)
	switch {
	case !ok || id.Type != chains.TypeInteger || id.Value == "0":
		return ""
	case !said.Numbered:
		return said.Namespace
	}
	return said.Namespace + ":" + id.Value
}

// fields returns the fields of the summary, which is written for conditions that read it alone.
func (e *evaluation) fields() []chains.Field {
	if e.request.Summary == nil {
		return nil
	}
	return e.request.Summary().Fields
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
		purpose := taken.judged() && taken.Kind != chains.KindFee
		if purpose && taken.Payload() == effect.Payload() && !effect.prices(taken) {
			return false
		}
	}
	return true
}

// question is what a clause asks about an effect, both by index; -1 is the request.
type question struct {
	clause, effect int
	sight          sight // of a clause about other effects
}

// maxAnswers bounds the answers that are kept for one request.
const maxAnswers = 1 << 16

// answer is whether a clause holds.
type answer struct {
	holds bool
	err   error
}

// details are the fields of a transaction's summary, or of a part of it. Rules that use
// them apply to one chain, which their on names.
type details struct {
	request *evaluation
	fields  []chains.Field
	words   *chains.Words
}

// detail resolves the variable of a chain's details.
func (e *evaluation) detail(name string) (any, bool) {
	root, known := e.known.roots[name]
	if !known {
		return nil, false
	}
	if e.chain != root.chain {
		return types.WrapErr(absent(name)), true
	}
	if e.details == nil {
		e.details = &details{e, e.fields(), root.words}
	}
	return newObject(root.kind, e.details), true
}
