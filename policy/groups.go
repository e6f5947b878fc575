package policy

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// groups index the rules by scope, in file order, so that only rules that can apply are
// evaluated.
type groups struct {
	denies, allows map[scope][]*rule
}

// scope is a chain (empty for requests without a transaction) and a kind of effect
// (empty for the request as a whole).
type scope struct {
	chain string
	kind  chains.Kind
}

func newGroups(rules []*rule) groups {
	g := groups{denies: map[scope][]*rule{}, allows: map[scope][]*rule{}}
	for _, chain := range append(words().names(), "") {
		for _, r := range rules {
			if len(r.on) > 0 && !slices.Contains(r.on, chain) {
				continue
			}
			group := g.allows
			if r.deny {
				group = g.denies
			}
			for _, kind := range r.scopeKinds() {
				group[scope{chain, kind}] = append(group[scope{chain, kind}], r)
			}
		}
	}
	return g
}

// scopeKinds returns the kinds that a rule is evaluated for. A deny on request judges the
// request once; an allow on request covers effects of every kind.
func (r *rule) scopeKinds() []chains.Kind {
	switch {
	case !r.request:
		return r.kinds
	case r.deny:
		return []chains.Kind{""}
	}
	return append(chains.Kinds(), "")
}
