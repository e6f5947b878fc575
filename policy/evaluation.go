package policy

import (
	"math/big"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// evaluation is the judgement of one request. It resolves the variables of expressions.
// It must be used by one goroutine.
type evaluation struct {
	request *access.Authorization
	chain   string // of the transaction: "ethereum", …; empty without one
	effects []effectView
	current *effectView // what effect is bound to; nil in a rule on the request
	payload string      // whose effects a condition sees; empty: all

	effectList ref.Val // of listedOf
	listedOf   listed
	receives   bool // something is received
	hidden     bool // a condition does not see what is received: it does not ask for it
	details    *details
	whoAndKey  []verdict // by index of the rule
}

// listed is what the effects that a condition sees depend on.
type listed struct {
	payload string
	current *effectView
	hidden  bool
}

// verdict is whether who and key of a rule match.
type verdict uint8

const (
	undecided verdict = iota
	matches
	differs
)

func newEvaluation(request *access.Authorization, rules int) *evaluation {
	e := &evaluation{request: request, whoAndKey: make([]verdict, rules)}
	if request.Summary != nil {
		e.chain = request.Summary.Chain
	}
	e.effects = newEffectViews(request.Effects, e.chain, request.Readings)
	if e.receives = slices.ContainsFunc(request.Effects, func(effect chains.Effect) bool { return effect.Kind == chains.KindReceive }); e.receives {
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

// about binds the condition of a rule to an effect, or to the request if that is nil. Of several
// payloads it then sees the effects of one: the others can be left unused, so that nothing which
// they give back is there for certain.
func (e *evaluation) about(r *rule, effect *effectView) {
	payload := ""
	if effect != nil {
		payload = effect.Payload()
	}
	e.bind(r, effect, payload)
}

// bind is about, for the effects of a payload.
func (e *evaluation) bind(r *rule, effect *effectView, payload string) {
	e.current, e.payload, e.hidden = effect, payload, !r.deny && !r.priced
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

// applies reports whether the request is of the rule's kind, and the user, the credential and
// the keys match its who and key.
func (e *evaluation) applies(r *rule) bool {
	cached := &e.whoAndKey[r.index]
	if *cached == undecided {
		*cached = differs
		if r.isOf(e.request.Intent) && r.who.holds(e.request) && r.coversKeys(e.request.Keys) {
			*cached = matches
		}
	}
	return *cached == matches
}

// Parent implements interpreter.Activation.
func (*evaluation) Parent() interpreter.Activation { return nil }

// ResolveName implements interpreter.Activation.
func (e *evaluation) ResolveName(name string) (any, bool) {
	switch name {
	case "effect":
		if e.current == nil {
			return types.WrapErr(absent("effect")), true
		}
		return &e.current.object, true
	case "effects":
		return e.allEffects(), true
	case "key":
		return e.key(), true
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

// key returns the key that signs. If several sign, the variable key is an error.
func (e *evaluation) key() ref.Val {
	if len(e.request.Keys) != 1 {
		return types.NewErr("key: %d keys sign this request", len(e.request.Keys))
	}
	return newObject(keyType, &e.request.Keys[0])
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

func (e *evaluation) allEffects() ref.Val {
	of := listed{e.payload, nil, e.hidden}
	if e.receives {
		of.current = e.current
	}
	if e.effectList == nil || e.listedOf != of {
		e.effectList, e.listedOf = newList(e.visible(func(*chains.Effect) bool { return true })), of
	}
	return e.effectList
}

func (e *evaluation) activityType() string {
	if e.request.Intent == nil {
		return ""
	}
	return string(e.request.Intent.ActivityType())
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

// isOf reports whether the rule is about what an intent asks for.
func (r *rule) isOf(intent activity.Intent) bool {
	if r.of == "" {
		return true
	}
	_, transaction := intent.(activity.SignTransactionIntent)
	return transaction == (r.of == ofTransactions) && intent != nil && intent.ActivityType().Signs()
}

// isOn reports whether a payload, or the whole of a request for one thing, is for a network of
// the rule.
func (e *evaluation) isOn(r *rule, payload string) bool {
	return len(r.networks) == 0 || slices.Contains(r.networks, e.network(payload))
}

// network returns the CAIP-2 id of the network that a payload is for, which a transaction or
// the domain of typed data names; empty if the bytes name none.
func (e *evaluation) network(payload string) string {
	if e.request.Summary == nil {
		return ""
	}
	said, fields := words().chains[e.chain], e.request.Summary.Fields
	_, transaction := e.request.Intent.(activity.SignTransactionIntent)
	if transaction && !said.Numbered {
		return said.Namespace
	}
	key := "chain_id"
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
