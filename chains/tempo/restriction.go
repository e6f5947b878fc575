package tempo

import (
	"bytes"
	"slices"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// The network's bounds of a key's restrictions: of its pool, and of the AccountKeychain precompile.
const (
	maxLimits     = 256
	maxScopes     = 64
	maxRules      = 64  // of one scope
	maxRecipients = 64  // of one rule
	maxLimitBits  = 128 // the width of a TIP-20 balance
)

// readLimits reads a list of [token, limit, period?]: what may be spent, in total or in each period
// of seconds. The network accepts each token once.
func readLimits(list *rlp.Fields, raw []byte) (limits []evm.KeyLimit) {
	if !checkCount(list, maxLimits) {
		return nil
	}
	for list.More() {
		tuple := list.List("limit")
		offset := tuple.At()
		limit := evm.KeyLimit{Token: tuple.Address("token")}
		if slices.ContainsFunc(limits, func(earlier evm.KeyLimit) bool { return earlier.Token == limit.Token }) {
			tuple.Fail("token", offset, "%v has a limit already", limit.Token)
		}
		offset = tuple.At()
		amount := tuple.Uint256("limit")
		if limit.Amount = amount.Big(raw); amount.Len() > maxLimitBits/8 {
			tuple.Fail("limit", offset, "integer of %d bits is over %d, the most that a token has",
				limit.Amount.BitLen(),
				maxLimitBits)
		}
		if tuple.More() {
			offset := tuple.At()
			if limit.Period = tuple.Uint64("period"); limit.Period == 0 {
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

// readScopes reads a list of [target, [[selector, [recipient…]]…]]: which calls are allowed
// (TIP-1011). No rules: any call to the target. No recipients: any. The network accepts each target once, and not the
// zero address.
func readScopes(list *rlp.Fields) (scopes []evm.KeyScope) {
	if !checkCount(list, maxScopes) {
		return nil
	}
	for list.More() {
		tuple := list.List("scope")
		offset := tuple.At()
		s := evm.KeyScope{Target: tuple.Address("target")}
		switch {
		case s.Target == evm.Address{}:
			tuple.Fail("target", offset, "is the zero address, which the network does not accept")
		case slices.ContainsFunc(scopes, func(earlier evm.KeyScope) bool { return earlier.Target == s.Target }):
			tuple.Fail("target", offset, "%v has a scope already", s.Target)
		}
		rules := tuple.List("selectorRules")
		readRules(&s, &rules)
		tuple.Join(&rules)
		list.Join(&tuple)
		scopes = append(scopes, s)
	}
	return scopes
}

func readRules(s *evm.KeyScope, list *rlp.Fields) {
	if !checkCount(list, maxRules) {
		return
	}
	for list.More() {
		tuple := list.List("rule")
		offset := tuple.At()
		rule := evm.KeyRule{Selector: tuple.Bytes("selector", 4)}
		if slices.ContainsFunc(s.Rules, func(earlier evm.KeyRule) bool {
			return bytes.Equal(earlier.Selector,
				rule.Selector)
		}) {
			tuple.Fail("selector", offset, "%x has a rule already", rule.Selector)
		}
		offset = tuple.At()
		recipients := tuple.List("recipients")
		rule.Recipients = readRecipients(&recipients)
		tuple.Join(&recipients)
		if len(rule.Recipients) > 0 && (!evm.IsTIP20(s.Target) || !evm.SpendsTIP20(rule.Selector)) {
			tuple.Fail("recipients", offset,
				"only transfer, transferWithMemo and approve of a TIP-20 token can be bound to recipients")
		}
		list.Join(&tuple)
		s.Rules = append(s.Rules, rule)
	}
}

// readRecipients reads a list of recipients. The network accepts each once, and not the
// zero address.
func readRecipients(list *rlp.Fields) (recipients []evm.Address) {
	if !checkCount(list, maxRecipients) {
		return nil
	}
	for list.More() {
		offset := list.At()
		recipient := evm.Address(list.Address("recipient"))
		switch {
		case recipient == evm.Address{}:
			list.Fail("recipient", offset, "is the zero address, which the network does not accept")
		case slices.Contains(recipients, recipient):
			list.Fail("recipient", offset, "%v is listed already", recipient)
		}
		recipients = append(recipients, recipient)
	}
	return recipients
}
