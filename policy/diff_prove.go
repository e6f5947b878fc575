package policy

import (
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
)

// tightens reports whether rules are proved to allow no more with the one at a place replaced, or
// gone if to is nil: no request, in any state of the limits and with any votes. A deny must refuse
// what it refused. An allow must match no more, ask for the votes and charge the limits that it did.
// That does not suffice: the first rule that matches and whose limits are not exceeded decides an
// effect, after an exceeded one only rules with as many votes, and others: true is what makes rules be
// asked about effects of other signatures. What the rule no longer decides may fall to a later one.
// So no later rule is about such effects; or each of those charges the same limits and asks for those
// votes; or the next of them has no limit, asks for those votes and takes all that the rule took, whose
// limits no other rule charges. Then, what is no longer charged leaves room for other effects of a
// request only if it has the votes that these would have needed.
func tightens(rules []*rule, at int, to *rule) bool {
	from, later := rules[at], []*rule(nil)
	for _, r := range rules[at+1:] {
		if r.meets(from) {
			later = append(later, r)
		}
	}
	scoped := to != nil && to.others == from.others &&
		slices.Equal(to.kinds, from.kinds) && slices.Equal(to.on, from.on)
	switch {
	case from.deny:
		return to != nil && from.within(to)
	case (from.others || to != nil && to.others) && !scoped:
		return false
	case to == nil:
		to = &rule{approvals: from.approvals, limits: from.limits} // which matches nothing
	case !to.within(from) || !demands(to.approvals, from.approvals) || !charges(to.limits, from.limits):
		return false
	}
	raised := votes(to.approvals) > votes(from.approvals)
	// Once a rule before is exceeded that needs more votes, from is passed over, and to may not be.
	if raised && slices.ContainsFunc(rules[:at], func(r *rule) bool {
		return len(r.limits) > 0 && votes(r.approvals) > votes(from.approvals) && r.meets(from)
	}) {
		return false
	}
	if from.within(to) && slices.EqualFunc(from.limits, to.limits, same) && (!raised || len(from.limits) == 0) {
		return true // it decides the same effects
	}
	// shared reports whether another rule charges one of the limits that from does not, or of all.
	shared := func(all bool) bool {
		return slices.ContainsFunc(rules, func(r *rule) bool {
			return r != from && slices.ContainsFunc(to.limits, func(l *limit) bool {
				return r.counts(l) && (all || !from.counts(l))
			})
		})
	}
	unequal := func(r *rule) bool {
		return from.priced || r.priced || !demands(r.approvals, from.approvals) ||
			!charges(r.limits, from.limits) || !charges(from.limits, r.limits)
	}
	if !slices.ContainsFunc(later, unequal) {
		return !shared(false)
	}
	next := later[0]
	return len(next.limits) == 0 && from.within(next) && !from.priced && !shared(true) &&
		demands(next.approvals, from.approvals) && demands(next.approvals, to.approvals)
}

// counts reports whether the rule charges a limit of the name of another.
func (r *rule) counts(other *limit) bool {
	return slices.ContainsFunc(r.limits, func(l *limit) bool { return l.name == other.name })
}

// meets reports whether two rules are allows that may match the same effect.
func (r *rule) meets(other *rule) bool {
	apart := func(a, b []string) bool { return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, in(b)) }
	return !r.deny && !other.deny && (r.request || other.request || slices.ContainsFunc(r.kinds, in(other.kinds))) &&
		(r.of == "" || other.of == "" || r.of == other.of) &&
		!apart(r.on, other.on) && !apart(r.networks, other.networks) &&
		!slices.ContainsFunc(r.when.parts(), func(c *clause) bool {
			return slices.ContainsFunc(other.when.parts(), c.excludes)
		})
}

func in[T comparable](list []T) func(T) bool {
	return func(v T) bool { return slices.Contains(list, v) }
}

// among reports whether some values are among others, of which none stands for all.
func among[T comparable](values, others []T) bool {
	out := func(v T) bool { return !slices.Contains(others, v) }
	return len(others) == 0 || len(values) > 0 && !slices.ContainsFunc(values, out)
}

// within reports whether all that a rule matches, a wider one matches; an error of a deny is a match.
// The reverse of a && b && … is that one does not hold, and none before it is an error.
func (r *rule) within(wide *rule) bool {
	isUnlisted := func(hazard string) bool {
		_, is := wide.unlisted([]chains.Hazard{{Name: hazard}})
		return is
	}
	clauses, widely := r.when.parts(), wide.when.parts()
	isLost := func(w *clause) bool {
		return !slices.ContainsFunc(clauses, func(c *clause) bool { return c.implies(w) })
	}
	when := !slices.ContainsFunc(widely, isLost)
	if r.deny {
		when = slices.EqualFunc(clauses[:min(len(clauses), len(widely))], widely, (*clause).implies)
	}
	return when && r.deny == wide.deny && r.request == wide.request && r.priced == wide.priced &&
		(!r.others || wide.others) && (!r.alone || wide.alone) && (!r.bundle || wide.bundle) &&
		!slices.ContainsFunc(r.hazards, isUnlisted) && (wide.of == "" || r.of == wide.of) && r.who.within(wide.who) &&
		(r.request || len(wide.kinds) > 0 && among(r.kinds, wide.kinds)) && among(r.on, wide.on) &&
		among(r.networks, wide.networks) && among(r.keys, wide.keys)
}

// within reports whether all users that a clause matches, a wider one matches.
func (w *who) within(wide *who) bool {
	switch {
	case wide == nil || w == nil:
		return wide == nil
	case reflect.DeepEqual(w, wide):
		return true
	}
	return len(wide.any)+len(wide.all) == 0 && wide.not == nil && among(w.users, wide.users) &&
		(wide.tag == "" || w.tag == wide.tag) && among(w.credentials, wide.credentials)
}

// demands reports whether votes that are enough for some groups are enough for others, of which each
// has one of its own among the first that asks for as much.
func demands(more, fewer []access.Group) bool {
	more = slices.Clone(more)
	for _, group := range fewer {
		anyone := group.Tag == "" && len(group.Users) == 0
		at := slices.IndexFunc(more, func(of access.Group) bool {
			named := (of.Tag != "" || len(of.Users) > 0) && (of.Tag == "" || of.Tag == group.Tag) &&
				(len(of.Users) == 0 || len(group.Users) > 0 && among(of.Users, group.Users))
			return of.Count >= group.Count && of.Within <= group.Within && (of.NotSubmitter || !group.NotSubmitter) &&
				(of.Passkey || !group.Passkey) && (anyone || named)
		})
		if at < 0 {
			return false
		}
		more = slices.Delete(more, at, at+1)
	}
	return true
}

// charges reports whether limits count all that others count, and are exceeded when those are.
func charges(more, fewer []*limit) bool {
	return !slices.ContainsFunc(fewer, func(l *limit) bool {
		return !slices.ContainsFunc(more, func(m *limit) bool {
			return m.name == l.name && m.counts(l) && m.per == l.per && m.window == l.window && m.nonce == l.nonce &&
				m.max.Cmp(l.max) <= 0
		})
	})
}

// same reports whether two limits are one. The first that cannot count an effect, or is exceeded, ends
// its rule, and only one that is exceeded passes over later rules: their order matters.
func same(a, b *limit) bool {
	return charges([]*limit{a}, []*limit{b}) && charges([]*limit{b}, []*limit{a})
}

// implies reports whether a clause holds only if another does, and is an error only if the other is:
// it is the same, or compares the same member of the effect with less.
func (c *clause) implies(other *clause) bool {
	p, q := c.quick, other.quick
	switch {
	case c.meaning() == other.meaning():
		return true
	case p == nil || q == nil || p.op != q.op || c.in.compared[p.member] != other.in.compared[q.member]:
		return false
	case p.op == "@in":
		return contains(q.with, p.with)
	case p.op == "_<_" || p.op == "_<=_":
		return isAtMost(p.with, q.with)
	case p.op == "_==_":
		return false
	}
	return isAtMost(q.with, p.with)
}

// excludes reports whether both compare a member of the effect with constants that it cannot both equal.
func (c *clause) excludes(other *clause) bool {
	p, q := c.quick, other.quick
	if p == nil || q == nil || p.op+q.op != "_==__==_" || c.in.compared[p.member] != other.in.compared[q.member] {
		return false
	}
	_, isText := p.with.(types.String)
	_, isAsset := p.with.(*asset) // not an address, which equals several on Solana
	return (isText || isAsset) && p.with.Equal(q.with) == types.False
}

// contains reports whether a list has all values of another, and means them on as many chains.
func contains(list, values ref.Val) bool {
	for _, of := range []*ref.Val{&list, &values} {
		if bars, ok := (*of).(barList); ok {
			*of = bars.addressList
		}
	}
	whole, isList := list.(traits.Lister)
	part, isToo := values.(traits.Lister)
	of, isNamed := list.(*addressList)
	if named, ok := values.(*addressList); !isList || !isToo || ok && named.anyChain && (!isNamed || !of.anyChain) {
		return false
	}
	for i := range part.Size().(types.Int) {
		if _, hasUnit := part.Get(i).(*amount); hasUnit || whole.Contains(part.Get(i)) != types.True {
			return false
		}
	}
	return true
}

// isAtMost reports whether a constant is at most another of the same unit.
func isAtMost(a, b ref.Val) bool {
	x, isAmount := a.(*amount)
	y, isToo := b.(*amount)
	if isAmount != isToo || isAmount && x.unit.String() != y.unit.String() {
		return false
	}
	order, ok := a.(traits.Comparer).Compare(b).(types.Int)
	return ok && order <= 0
}
