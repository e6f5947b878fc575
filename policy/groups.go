package policy

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// groups are the rules by the chain and the kind of effect that they are about,
// in file order, so that a request asks only those that can apply.
type groups struct {
	denies, allows map[scope][]*rule
}

// scope is a chain (empty: no transaction of a chain) and a kind of effect
// (empty: the request).
type scope struct {
	chain string
	kind  chains.Kind
}

func newGroups(rules []*rule) groups {
	made := groups{denies: map[scope][]*rule{}, allows: map[scope][]*rule{}}
	for _, chain := range append(chainNames(), "") {
		for _, r := range rules {
			if len(r.on) > 0 && !slices.Contains(r.on, chain) {
				continue
			}
			made.add(chain, r)
		}
	}
	return made
}

func (g *groups) add(chain string, r *rule) {
	if r.deny {
		for _, kind := range r.scopes() {
			g.denies[scope{chain, kind}] = append(g.denies[scope{chain, kind}], r)
		}
		return
	}
	kinds := r.kinds
	if r.request {
		kinds = append(chains.Kinds(), "")
	}
	for _, kind := range kinds {
		g.allows[scope{chain, kind}] = append(g.allows[scope{chain, kind}], r)
	}
}

// scopes are the kinds that a deny is asked about; the empty one is the request.
func (r *rule) scopes() []chains.Kind {
	if r.request {
		return []chains.Kind{""}
	}
	return r.kinds
}
