package structures

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// structure is a known type.
type structure struct {
	encoded string               // EncodeType of the primary type
	at      func(*document) bool // where it has this meaning; nil: everywhere
	read    func(*reading)
}

// byType has the known structures by encoded type.
var byType = func() map[string]structure {
	known := map[string]structure{}
	for _, s := range slices.Concat(seaport, messagesOfSafes, hyperliquid, exchanges, votes, reactorOrders) {
		known[s.encoded] = s
	}
	return known
}()

// reading is a message whose effects are being derived.
type reading struct {
	document
	now time.Time

	effects []chains.Effect
	args    []chains.Arg          // of the message, once asked for
	shown   func() []chains.Field // the decoded calls; nil if there are none
	hazards []chains.Hazard
	owners  []evm.Claim // whose own signature effects require
	maxFee  float64
	order   bool // the order that is being read gives something for a price
	orders  []span
	byChain bool // the chain itself verifies the message, and no contract

	// own changes what depends on which accounts are our own; nil if nothing does.
	own func(effects []chains.Effect, own func(chains.Party) bool)
	err error // why no signature over the message is valid
}

// span is where the effects of one order are: from the first to before the last.
type span struct{ first, last int }

// sold ends the reading of an order whose effects begin at an index. Each order has to be worth
// what it gives by itself.
func (r *reading) sold(first int) {
	if r.order {
		r.orders, r.order = append(r.orders, span{first, len(r.effects)}), false
	}
}

// cut replaces the effects beyond those that a transaction may have by one that is not
// decoded, which gets their hazards.
func (r *reading) cut() {
	const last = chains.MaxEffects - 1
	if len(r.effects) <= chains.MaxEffects {
		return
	}
	r.effects = evm.Cut(r.effects, chains.MaxEffects)
	r.effects[last].Path = "message"
	for i, hazard := range r.hazards {
		if index, ok := hazard.Effect(); ok {
			r.hazards[i] = hazard.OnEffect(min(index, last))
		}
	}
	for i := range r.owners {
		r.owners[i].Effect = min(r.owners[i].Effect, last)
	}
}

// undecoded adds the message as an undecoded effect, and returns its index.
func (r *reading) undecoded() int {
	effect := chains.Effect{Kind: chains.KindMessage, Undecoded: true}
	if r.domain.contract != nil {
		effect.To = r.network.Party(*r.domain.contract)
	}
	return r.add(effect)
}

// add adds an effect and returns its index. It is caused by the signer, from the signer, and of the
// whole message unless it says otherwise. What is sent where it is lost, or where anyone can take
// it, is burned.
func (r *reading) add(effect chains.Effect) int {
	effect.By, effect.Path = cmp.Or(effect.By, chains.BySigner), cmp.Or(effect.Path, "message")
	if effect.From.IsNone() {
		effect.From = chains.SignerParty()
	}
	r.effects = append(r.effects, r.network.Settled(effect))
	return len(r.effects) - 1
}

// addFrom adds an effect that requires the signature of its From party.
func (r *reading) addFrom(effect chains.Effect) int {
	index := r.add(effect)
	r.owners = append(r.owners, evm.Claim{Party: r.effects[index].From, Effect: index})
	return index
}

// whole is the effect of a danger that belongs to the message and to no single effect.
const whole = -1

// danger adds a hazard of an effect, or of the whole message.
func (r *reading) danger(name string, effect int, format string, args ...any) {
	hazard := chains.Hazard{Name: name, Detail: fmt.Sprintf(format, args...)}
	if effect != whole {
		hazard = hazard.OnEffect(effect)
	}
	r.hazards = append(r.hazards, hazard)
}
