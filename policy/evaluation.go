package policy

import (
	"math/big"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

// evaluation is one request that is judged. It gives the expressions their
// variables, and is used by one goroutine.
type evaluation struct {
	asked   *countersign.Authorization
	chain   string // of the transaction: "ethereum", …; empty if there is none
	effects []effectView
	current *effectView // that effect is bound to; nil in a rule on the request

	effectList ref.Val
	details    *details
	applies    []verdict // by index of the rule: whether who, key and on hold
}

func newEvaluation(asked *countersign.Authorization, rules int) *evaluation {
	made := &evaluation{asked: asked, applies: make([]verdict, rules)}
	if asked.Summary != nil {
		made.chain = asked.Summary.Chain
	}
	made.effects = newEffectViews(asked.Effects, made.chain, asked.Readings)
	return made
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
		return &object{userType, &e.asked.User}, true
	case "credential":
		if e.asked.Credential == nil {
			return types.WrapErr(absent("credential")), true
		}
		return &object{credentialType, e}, true
	case "time":
		return &object{timeType, e}, true
	case "request":
		return &object{requestType, e}, true
	}
	return e.detail(name)
}

// key is the key that signs. Where several do, their members are not those of
// one, and asking for them is an error.
func (e *evaluation) key() ref.Val {
	if len(e.asked.Keys) != 1 {
		return types.NewErr("key: %d keys sign this request", len(e.asked.Keys))
	}
	return &object{keyType, &e.asked.Keys[0]}
}

func (e *evaluation) allEffects() ref.Val {
	if e.effectList == nil {
		list := make([]ref.Val, len(e.effects))
		for i := range e.effects {
			list[i] = &e.effects[i].object
		}
		e.effectList = types.NewRefValList(types.DefaultTypeAdapter, list)
	}
	return e.effectList
}

func (e *evaluation) activityType() string {
	if e.asked.Intent == nil {
		return ""
	}
	return string(e.asked.Intent.ActivityType())
}

// countedKinds are the kinds whose amounts are spent.
var countedKinds = map[chains.Kind]bool{
	chains.KindTransfer: true, chains.KindApprove: true, chains.KindFee: true,
	chains.KindCreate: true, chains.KindBurn: true, chains.KindStake: true,
}

// counted reports whether the effect spends something that a limit counts.
func (e *effectView) counted() bool {
	return countedKinds[e.Kind] && e.judged() && !e.Amount.IsNone()
}

// judged reports whether the effect is by our authorization, and is not change
// that goes back where it came from.
func (e *effectView) judged() bool { return e.By != chains.ByOther && !e.Change }

// total is the sum of what the request spends of an asset.
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
			sum.Add(sum, effect.Amount.Value)
		}
	}
	return &amount{value: sum, unit: unit{asset: of.Asset}}
}
