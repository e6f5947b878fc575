package policy

import (
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
)

// judge decides requests by rules, which it has by scope, in file order, so that only those that
// can apply are evaluated. It is immutable.
type judge struct {
	words          *vocabulary
	rules          []*rule
	denies, allows map[scope][]*rule
}

// scope is a chain (empty for requests without a transaction) and a kind of effect
// (empty for the request as a whole).
type scope struct {
	chain string
	kind  chains.Kind
}

func newJudge(words *vocabulary, rules []*rule) *judge {
	j := &judge{words: words, rules: rules, denies: map[scope][]*rule{}, allows: map[scope][]*rule{}}
	for _, chain := range append(words.names(), "") {
		for _, r := range rules {
			if len(r.on) > 0 && !slices.Contains(r.on, chain) {
				continue
			}
			group := j.allows
			if r.deny {
				group = j.denies
			}
			for _, kind := range r.scopeKinds() {
				group[scope{chain, kind}] = append(group[scope{chain, kind}], r)
			}
		}
	}
	return j
}

// missingAny reports whether votes are missing.
func missingAny(decision *access.Decision, request *access.Authorization) bool {
	missing := access.Missing(decision.Approvals, request.Votes, request.User.ID, request.Now)
	return slices.ContainsFunc(missing, func(votes int) bool { return votes > 0 })
}
