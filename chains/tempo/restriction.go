package tempo

import (
	"bytes"
	"slices"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// The network's bounds of a key's restrictions: of its pool, and of the
// AccountKeychain precompile.
const (
	maxLimits     = 256
	maxScopes     = 64
	maxRules      = 64  // of one scope
	maxRecipients = 64  // of one rule
	maxLimitBits  = 128 // the width of a TIP-20 balance
)

// tokenLimit is [token, limit, period?]: what may be spent, in total or in each period
// of seconds.
type tokenLimit struct {
	token  evm.Address
	limit  rlp.Span
	period uint64
}

// readLimits reads a list of limits. The network accepts each token once.
func readLimits(list *rlp.Fields, raw []byte) (limits []tokenLimit) {
	if !checkCount(list, maxLimits) {
		return nil
	}
	for list.More() {
		tuple := list.List("limit")
		offset := tuple.At()
		limit := tokenLimit{token: tuple.Address("token")}
		if slices.ContainsFunc(limits, func(earlier tokenLimit) bool { return earlier.token == limit.token }) {
			tuple.Fail("token", offset, "%v has a limit already", limit.token)
		}
		offset = tuple.At()
		if limit.limit = tuple.Uint256("limit"); limit.limit.Len() > maxLimitBits/8 {
			tuple.Fail("limit", offset, "integer of %d bits is over %d, the most that a token has",
				limit.limit.Big(raw).BitLen(), maxLimitBits)
		}
		if tuple.More() {
			offset := tuple.At()
			if limit.period = tuple.Uint64("period"); limit.period == 0 {
				tuple.Fail("period", offset, "is 0: left out is its only form then")
			}
		}
		list.Join(&tuple)
		limits = append(limits, limit)
	}
	return limits
}

// checkCount fails if a list has more items than the network accepts.
func checkCount(list *rlp.Fields, most int) bool {
	count := list.Count()
	if count > most {
		list.Fail("", list.At(), "%d of them: %d at most", count, most)
	}
	return count <= most
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

// readScopes reads a list of scopes. The network accepts each target once, and not the
// zero address.
func readScopes(list *rlp.Fields) (scopes []scope) {
	if !checkCount(list, maxScopes) {
		return nil
	}
	for list.More() {
		tuple := list.List("scope")
		offset := tuple.At()
		s := scope{target: tuple.Address("target")}
		switch {
		case s.target == evm.Address{}:
			tuple.Fail("target", offset, "is the zero address, which the network does not accept")
		case slices.ContainsFunc(scopes, func(earlier scope) bool { return earlier.target == s.target }):
			tuple.Fail("target", offset, "%v has a scope already", s.target)
		}
		rules := tuple.List("selectorRules")
		s.readRules(&rules)
		tuple.Join(&rules)
		list.Join(&tuple)
		scopes = append(scopes, s)
	}
	return scopes
}

func (s *scope) readRules(list *rlp.Fields) {
	if !checkCount(list, maxRules) {
		return
	}
	for list.More() {
		tuple := list.List("rule")
		offset := tuple.At()
		rule := selectorRule{selector: tuple.Bytes("selector", 4)}
		if slices.ContainsFunc(s.rules, func(earlier selectorRule) bool {
			return bytes.Equal(earlier.selector,
				rule.selector)
		}) {
			tuple.Fail("selector", offset, "%x has a rule already", rule.selector)
		}
		offset = tuple.At()
		recipients := tuple.List("recipients")
		rule.readRecipients(&recipients)
		tuple.Join(&recipients)
		if len(rule.recipients) > 0 && (!evm.IsTIP20(s.target) || !evm.SpendsTIP20(rule.selector)) {
			tuple.Fail("recipients", offset,
				"only transfer, transferWithMemo and approve of a TIP-20 token can be bound to recipients")
		}
		list.Join(&tuple)
		s.rules = append(s.rules, rule)
	}
}

// readRecipients reads a list of recipients. The network accepts each once, and not the
// zero address.
func (r *selectorRule) readRecipients(list *rlp.Fields) {
	if !checkCount(list, maxRecipients) {
		return
	}
	for list.More() {
		offset := list.At()
		recipient := evm.Address(list.Address("recipient"))
		switch {
		case recipient == evm.Address{}:
			list.Fail("recipient", offset, "is the zero address, which the network does not accept")
		case slices.Contains(r.recipients, recipient):
			list.Fail("recipient", offset, "%v is listed already", recipient)
		}
		r.recipients = append(r.recipients, recipient)
	}
}
