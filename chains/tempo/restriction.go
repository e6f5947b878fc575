package tempo

import (
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/chains/internal/rlp"
)

// tokenLimit is [token, limit, period?]: what may be spent, in all or in each
// period of seconds.
type tokenLimit struct {
	token  evm.Address
	limit  rlp.Span
	period uint64
}

// readLimits reads all of a list of limits, and returns them if they are to be
// kept.
func readLimits(list *rlp.Fields, keep bool) (limits []tokenLimit) {
	for list.More() {
		tuple := list.List("limit")
		limit := tokenLimit{token: tuple.Address("token"), limit: tuple.Uint256("limit")}
		if tuple.More() {
			at := tuple.At()
			if limit.period = tuple.Uint64("period"); limit.period == 0 {
				tuple.Fail("period", at, "is 0: left out is its only form then")
			}
		}
		list.Join(&tuple)
		if keep {
			limits = append(limits, limit)
		}
	}
	return limits
}

// scope is [target, [[selector, [recipient…]]…]]: which calls are allowed
// (TIP-1011). No rules: any call to the target. No recipients: any.
type scope struct {
	target evm.Address
	rules  []selectorRule
}

type selectorRule struct {
	selector   []byte
	recipients []evm.Address
}

// readScopes reads all of a list of scopes, and returns them if they are to be
// kept.
func readScopes(list *rlp.Fields, keep bool) (scopes []scope) {
	for list.More() {
		tuple := list.List("scope")
		s := scope{target: tuple.Address("target")}
		rules := tuple.List("selectorRules")
		for rules.More() {
			if rule := readRule(&rules, keep); keep {
				s.rules = append(s.rules, rule)
			}
		}
		tuple.Join(&rules)
		list.Join(&tuple)
		if keep {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

func readRule(f *rlp.Fields, keep bool) selectorRule {
	tuple := f.List("rule")
	rule := selectorRule{selector: tuple.Bytes("selector", 4)}
	recipients := tuple.List("recipients")
	for recipients.More() {
		if recipient := recipients.Address("recipient"); keep {
			rule.recipients = append(rule.recipients, recipient)
		}
	}
	tuple.Join(&recipients)
	f.Join(&tuple)
	return rule
}
