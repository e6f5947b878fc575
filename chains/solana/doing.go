package solana

import (
	"math/big"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// doing is one thing that an instruction does, in the names of its layout. Its
// parties are accounts by their place's name, or arguments that are addresses.
type doing struct {
	kind chains.Kind

	from, to, account string

	asset  string // native, unknownToken, or the mint: an account or an argument
	amount string // an argument, allOfIt, or notSaid; with a prefix for its bound, or none

	by   string   // what authorizes it, if it is not the layout's authority
	args []string // arguments to say with it

	each  string                // once for each account or address of this name
	given string                // only if this account or argument is there
	when  func(r *reading) bool // only if this holds
	with  func(r *reading, e *effect)
}

// What the asset of a doing can be besides a mint.
const (
	native       = "native"
	unknownToken = "unknown token"
)

// What the amount of a doing can be besides an argument.
const (
	allOfIt = "all"
	notSaid = "not said"
	atMost  = "at most:" // before an argument's name
)

// The standards of tokens, in assets.
const (
	splToken     = "spl-token"
	splToken2022 = "spl-token-2022"
)

// effect is an effect with what decides whose it is and how dangerous.
type effect struct {
	chains.Effect

	// slots are the signers any of whose signatures authorizes it. None: no
	// signature, or which one is not known.
	slots []int

	// owned is set if the instruction needs a signature of whose it is: nothing
	// else's control changes otherwise.
	owned bool

	// danger names a hazard of its own, beside those that follow from the kind.
	danger, detail string
}

// effects appends what the instruction does.
func (r *reading) effects(into []effect) []effect {
	for _, inner := range r.inner {
		into = inner.all(into)
	}
	if r.layout == nil {
		return into
	}
	for _, d := range r.layout.does {
		if d.when != nil && !d.when(r) || d.given != "" && r.party(d.given).IsNone() {
			continue
		}
		if d.each != "" {
			into = r.eachEffect(d, into)
			continue
		}
		into = append(into, r.effect(d))
	}
	return into
}

// eachEffect resolves a doing once for each account of a place, or for each of the
// addresses that an argument lists.
func (r *reading) eachEffect(d doing, into []effect) []effect {
	for _, given := range r.roles {
		if given.name != d.each {
			continue
		}
		one := *r
		one.roles = append([]role{given}, r.roles...)
		into = append(into, one.effect(d))
	}
	for _, listed := range r.values {
		if listed.label != d.each || listed.key == nil {
			continue
		}
		one := *r
		one.values = append([]value{listed}, r.values...)
		into = append(into, one.effect(d))
	}
	return into
}

func atMostUint(amount uint64) chains.Quantity { return chains.AtMost(new(big.Int).SetUint64(amount)) }

// effect resolves the names of a doing.
func (r *reading) effect(d doing) effect {
	e := effect{Effect: chains.Effect{Kind: d.kind, By: chains.BySigner, Path: r.path}}
	if r.nested {
		e.By = chains.ByStanding
	}
	e.From = r.partyIn(&e, "from", d.from)
	e.To = r.partyIn(&e, "to", d.to)
	e.Account = r.partyIn(&e, "account", d.account)
	e.Asset = r.asset(d.asset)
	e.Amount = r.amount(d)
	e.slots = r.slots(d)
	e.owned = len(e.slots) > 0 || r.hasAuthority(d)
	if len(d.args) > 0 {
		e.Function = r.operation
	}
	for _, name := range d.args {
		if text := r.text(name); text != "" {
			e.Args = append(e.Args, chains.Arg{Name: name, Value: text})
		}
	}
	if d.with != nil {
		d.with(r, &e)
	}
	return e
}

// partyIn returns the party in one of an effect's roles, and notes if the bytes do
// not contain it.
func (r *reading) partyIn(e *effect, role, name string) chains.Party {
	party := r.party(name)
	if given, ok := r.at(name); ok && given.address == nil {
		e.Unresolved = append(e.Unresolved, role)
	}
	return party
}

// party returns the account or the address argument with a name; none if there
// is no such one.
func (r *reading) party(name string) chains.Party {
	if name == "" {
		return chains.Party{}
	}
	if given, ok := r.at(name); ok {
		return r.partyOf(given)
	}
	for _, v := range r.values {
		if v.label == name && v.key != nil {
			return party(v.key)
		}
	}
	return chains.Party{}
}

func (r *reading) partyOf(given account) chains.Party {
	if given.address == nil {
		return chains.UnknownParty()
	}
	return party(given.address)
}

func (r *reading) asset(name string) chains.Asset {
	switch name {
	case "":
		return chains.Asset{}
	case native:
		return chains.Native(Name)
	case unknownToken:
		asset := chains.UnknownAsset(Name)
		asset.Standard = r.standard()
		return asset
	}
	mint := r.party(name)
	if mint.IsNone() {
		mint = chains.UnknownParty()
	}
	return chains.Token(Name, mint, r.standard())
}

// standard is that of the program whose tokens the instruction moves: its own, or the
// one that it names.
func (r *reading) standard() string {
	named, _ := r.at(tokenProgramRole)
	if r.program == token2022Program || named.is(token2022ID) {
		return splToken2022
	}
	return splToken
}

func (r *reading) amount(d doing) chains.Quantity {
	name, most := strings.CutPrefix(d.amount, atMost)
	switch name {
	case "":
		return chains.Quantity{}
	case allOfIt:
		return chains.All()
	case notSaid:
		return chains.UnknownQuantity()
	}
	number, ok := r.number(name)
	switch {
	case !ok:
		return chains.All()
	case d.kind == chains.KindApprove && number >= unlimitedFrom:
		return chains.Unlimited(new(big.Int).SetUint64(number))
	case most:
		return chains.AtMost(new(big.Int).SetUint64(number))
	}
	return chains.ExactlyUint(number)
}

// unlimitedFrom is the amount from which an approval counts as unlimited: 2^63,
// half of what any mint can have.
const unlimitedFrom = 1 << 63

// text returns an account or argument as text, for an effect's arguments.
func (r *reading) text(name string) string {
	if party := r.party(name); !party.IsNone() {
		return party.String()
	}
	for _, v := range r.values {
		if v.label == name && v.name != "" {
			return v.name
		}
	}
	if number, ok := r.number(name); ok {
		return new(big.Int).SetUint64(number).String()
	}
	return ""
}

// slots returns the signers that can authorize a doing: the one in its place, any
// of a multisig's, or every signer where the program takes any.
func (r *reading) slots(d doing) (slots []int) {
	if r.layout.anySigner {
		for _, given := range r.given {
			slots = addSlot(slots, given)
		}
		return slots
	}
	for _, name := range r.authorities(d) {
		for _, role := range r.roles {
			if role.name == name || role.name == "signer" && name != d.by {
				slots = addSlot(slots, role.account)
			}
		}
		slots = append(slots, r.slotsOfArgument(name)...)
	}
	return slots
}

// slotsOfArgument returns the slot of an address that an argument names, as the
// base of a derived address is named.
func (r *reading) slotsOfArgument(name string) (slots []int) {
	for _, v := range r.values {
		if v.label != name || v.key == nil {
			continue
		}
		for _, given := range r.given {
			if string(given.address) == string(v.key) {
				slots = addSlot(slots, given)
			}
		}
	}
	return slots
}

func addSlot(slots []int, given account) []int {
	if given.signer && given.slot >= 0 {
		return append(slots, given.slot)
	}
	return slots
}

// authorities returns the names of what can authorize a doing.
func (r *reading) authorities(d doing) []string {
	if d.by != "" {
		return []string{d.by}
	}
	return r.layout.authorities
}

func (r *reading) hasAuthority(d doing) bool { return d.by != "" || len(r.layout.authorities) > 0 }

// undecoded is what an instruction does of which nothing is known but which
// program it calls.
func (r *reading) undecoded(program chains.Party) effect {
	e := effect{Effect: chains.Effect{Kind: chains.KindCall, By: chains.BySigner, To: program, Undecoded: true, Path: r.path}}
	if r.nested {
		e.By = chains.ByStanding
	}
	for _, given := range r.given {
		e.slots = addSlot(e.slots, given)
	}
	return e
}
