package solana

import (
	"bytes"
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// Assets of a template that are not a mint.
const (
	native       = "native"
	unknownToken = "unknown token"
)

// Amounts of a template that are not an argument.
const (
	wholeBalance = "all"
	unstated     = "not said"
)

// The standards of tokens, in assets.
const (
	splToken     = "spl-token"
	splToken2022 = "spl-token-2022"
)

// unlimitedFrom is the amount from which an approval counts as unlimited: 2^63,
// half of the largest supply that a mint can have.
const unlimitedFrom = 1 << 63

// effects appends what the instruction does: its effects by its layout and those
// of the instructions inside it, or a call that is not decoded.
func (r *reader) effects(list []effect) []effect {
	if r.err != nil {
		call := effect{Effect: chains.Effect{Kind: chains.KindCall, By: r.by(), To: party(r.id), Undecoded: true,
			Path: r.path}}
		for _, given := range r.given {
			call.slots = addSlot(call.slots, given)
		}
		return append(list, call)
	}
	for _, inner := range r.inner {
		list = inner.effects(list)
	}
	if r.layout == nil {
		return list
	}
	first, applied := len(list), make([]*template, 0, 16)
	for i := range r.layout.effects {
		tpl, before := &r.layout.effects[i], len(list)
		switch {
		case tpl.when != nil && !tpl.when(r) || tpl.given != "" && r.party(tpl.given).IsNone():
		case tpl.each != "":
			list = r.eachEffect(tpl, list)
		default:
			list = r.appendEffect(tpl, list)
		}
		if len(list) > before {
			applied = append(applied, tpl)
		}
	}
	if len(list) == first {
		return list
	}
	list[first].mint = r.party("mint")
	if !r.stored { // what is stored does nothing yet
		list[first].initialized = r.party(r.layout.initializes)
	}
	r.complete(list[first:], applied)
	return list
}

// complete adds to the instruction's effects what none of them has as a member: to the first
// one the accounts that have a meaning, and to the first change of settings, or account that is
// created, the arguments, which are what is set. An account that is not known is unresolved in any case.
func (r *reader) complete(effects []effect, applied []*template) {
	named := func(name string) bool {
		return slices.ContainsFunc(applied, func(tpl *template) bool {
			return name == tpl.from || name == tpl.to || name == tpl.account || name == tpl.asset ||
				name == tpl.amount || name == tpl.each || slices.Contains(tpl.args, name)
		})
	}
	first := &effects[0]
	for i := range r.roles {
		given := &r.roles[i]
		if given.checked || given.signer || given.name == leftOut || named(given.name) {
			continue
		}
		if given.address == nil {
			first.Unresolved = append(first.Unresolved, given.name)
		}
		if !given.authority {
			r.addArg(first, given.name, given.party().String())
		}
	}
	set := slices.IndexFunc(effects,
		func(e effect) bool { return e.Kind == chains.KindSettings || e.Kind == chains.KindCreate })
	for i := 0; set >= 0 && i < len(r.values); i++ {
		if v := &r.values[i]; !named(v.label) {
			r.addArg(&effects[set], v.label, v.text())
		}
	}
}

// addArg adds an argument. The values of one name are one argument, so that a condition on
// it is one on all of them.
func (r *reader) addArg(e *effect, name, text string) {
	e.Function = r.operation
	if text == "" {
		return
	}
	for i := range e.Args {
		if e.Args[i].Name == name {
			e.Args[i].Value += ", " + text
			return
		}
	}
	e.Args = append(e.Args, chains.Arg{Name: name, Value: text})
}

// eachEffect appends one effect for each account of a place, and for each of the
// addresses that an argument lists.
func (r *reader) eachEffect(tpl *template, list []effect) []effect {
	for _, given := range r.roles {
		if given.name == tpl.each {
			narrowed := *r
			narrowed.roles = append([]role{given}, r.roles...)
			list = narrowed.appendEffect(tpl, list)
		}
	}
	for _, listed := range r.values {
		if listed.label == tpl.each && listed.key != nil {
			narrowed := *r
			narrowed.values = append([]value{listed}, r.values...)
			list = narrowed.appendEffect(tpl, list)
		}
	}
	return list
}

func (r *reader) appendEffect(tpl *template, list []effect) []effect {
	list = append(list, effect{})
	e := &list[len(list)-1]
	e.Kind, e.By, e.Path = tpl.kind, r.by(), r.path
	e.From = r.partyIn(e, "from", tpl.from)
	e.To = r.partyIn(e, "to", tpl.to)
	e.Account = r.partyIn(e, "account", tpl.account)
	e.Asset = r.asset(e, tpl.asset)
	e.Amount = r.amount(tpl)
	if sum := e.Amount.Value; e.Kind == chains.KindApprove && sum != nil && chains.ExceedsSupply(e.Asset, sum) {
		e.Amount = chains.Unlimited(sum)
	}
	e.slots = r.slots(tpl)
	e.alone = r.program.ownAccounts && r.signs(e.From)
	e.owned = len(e.slots) > 0 || tpl.by != "" || len(r.layout.authorities) > 0
	if tpl.kind == chains.KindSettings || tpl.kind == chains.KindFreeze {
		e.Function = r.operation
	}
	for _, name := range tpl.args {
		r.addArg(e, name, r.text(name))
	}
	if tpl.with != nil {
		tpl.with(r, e)
	}
	return list
}

func (r *reader) by() chains.By {
	if r.stored {
		return chains.ByStanding
	}
	return chains.BySigner
}

// partyIn returns the party in a role of an effect, and records the role as
// unresolved if the bytes do not contain the party's address.
func (r *reader) partyIn(e *effect, role, name string) chains.Party {
	if given, ok := r.role(name); ok && given.address == nil {
		e.Unresolved = append(e.Unresolved, role)
	}
	return r.party(name)
}

// party returns the account or the address argument with a name, none if there is neither.
func (r *reader) party(name string) chains.Party {
	if name == "" {
		return chains.Party{}
	}
	if given, ok := r.role(name); ok {
		return given.party()
	}
	for _, v := range r.values {
		if v.label == name && v.key != nil {
			return party(v.key)
		}
	}
	return chains.Party{}
}

func (r *reader) asset(e *effect, name string) chains.Asset {
	switch name {
	case "":
		return chains.Asset{}
	case native:
		return chains.Native(Name)
	}
	mint := r.partyIn(e, "asset", name)
	if mint.IsNone() { // as of unknownToken
		mint = chains.UnknownParty()
	}
	// The tokens are those of the instruction's own program, or of the token program among its accounts.
	standard := splToken
	if named, _ := r.role(tokenProgramRole); r.program.standard == splToken2022 || named.is(token2022ID) {
		standard = splToken2022
	}
	return chains.Token(Name, mint, standard)
}

func (r *reader) amount(tpl *template) chains.Quantity {
	switch tpl.amount {
	case "":
		return chains.Quantity{}
	case wholeBalance:
		return chains.All()
	case unstated:
		return chains.Quantity{Bound: chains.BoundMost} // it is encrypted
	}
	number, ok := r.number(tpl.amount)
	switch {
	case !ok:
		return chains.All()
	case tpl.kind == chains.KindApprove && number >= unlimitedFrom:
		return chains.Unlimited(new(big.Int).SetUint64(number))
	}
	return chains.ExactlyUint(number)
}

func (r *reader) text(name string) string {
	if party := r.party(name); !party.IsNone() {
		return party.String()
	}
	for i := range r.values {
		if r.values[i].label == name {
			return r.values[i].text()
		}
	}
	return ""
}

// slots returns the signers that can authorize an effect: the authority, any signer
// of its multisig, or every signer where the program takes any.
func (r *reader) slots(tpl *template) (slots []int) {
	if r.layout.anySigner {
		for _, given := range r.given {
			slots = addSlot(slots, given)
		}
		return slots
	}
	if tpl.by != "" {
		return r.slotsOf(slots, tpl.by, false)
	}
	for _, name := range r.layout.authorities {
		slots = r.slotsOf(slots, name, true)
	}
	return slots
}

// slotsOf appends the slots of the accounts in a role, and those of an address that an argument of
// this name has, such as the base of a derived address. Cosigners are those of a multisig.
func (r *reader) slotsOf(slots []int, name string, cosigners bool) []int {
	for _, role := range r.roles {
		if role.name == name || cosigners && role.name == "signer" {
			slots = addSlot(slots, role.account)
		}
	}
	for _, v := range r.values {
		if v.label != name || v.key == nil {
			continue
		}
		for _, given := range r.given {
			if bytes.Equal(given.address, v.key) {
				slots = addSlot(slots, given)
			}
		}
	}
	return slots
}

// signs reports whether a party is a signer that the instruction is given.
func (r *reader) signs(p chains.Party) bool {
	return slices.ContainsFunc(r.given, func(given account) bool { return given.signer && p.Is(given.address) })
}

// The effects that several programs have follow. changes changes the settings of accounts.
func changes(accounts ...string) (list []template) {
	for _, account := range accounts {
		list = append(list, settings(account))
	}
	return list
}

func settings(account string) template { return template{kind: chains.KindSettings, account: account} }
func freezes(by, account string) template {
	return template{kind: chains.KindFreeze, from: by, account: account}
}

// moves moves tokens of a mint, or SOL.
func moves(from, to, asset, amount string) template {
	return template{kind: chains.KindTransfer, from: from, to: to, asset: asset, amount: amount}
}

func sends(from, to, amount string) template { return moves(from, to, native, amount) }

// gives names who controls a new account, and givesAny who does if the instruction names one.
func gives(account, to string) template { return passes(account, "", to) }

func givesAny(account, to string) template { return gives(account, to).provided(to) }

// provided is the effect if an account or argument is given.
func (tpl template) provided(name string) template {
	tpl.given = name
	return tpl
}

// passes gives control of an account to another party, and hands a kind of it that is an argument.
func passes(account, from, to string) template {
	return template{kind: chains.KindAuthority, from: from, account: account, to: to}
}

func hands(account, from, to string) template {
	tpl := passes(account, from, to)
	tpl.args = []string{"authority type"}
	return tpl
}
