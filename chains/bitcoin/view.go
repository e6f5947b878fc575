package bitcoin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// SignerView implements chains.Signing: which inputs the keys sign, which
// outputs come back to them, and what they spend.
func (s *signing) SignerView() []chains.Field {
	fields := []chains.Field{chains.Text("network", s.tx.network.String()).WithNote("of the addresses shown")}
	for i := range s.tx.inputs {
		fields = append(fields, s.viewInput(i))
	}
	if s.tx.message != nil {
		return fields
	}
	for i, back := range s.ownership().change(s.plan.outcomes, s.plan.signed) {
		fields = append(fields, s.viewOutput(i, back))
	}
	spent, back := s.flow()
	return append(fields, amount("your inputs", spent), amount("back to you", back),
		s.tx.provenTotal(amount("you spend", spent-back).WithNote("fee included")))
}

func (s *signing) viewInput(index int) chains.Field {
	in, by := &s.tx.inputs[index], s.ownership().input(index)
	note := s.status(index)
	switch of := s.ownership().registered.inputs[index].of; {
	case of != nil:
		note = named(of) + ", " + note
	case s.signer(index) != nil:
		if in.derived { // the summary has the bytes alone, in which it is P2SH
			note += " as P2SH-P2WPKH: its redeem script follows from the key, and is filled in"
		}
	case by.ours && !in.final:
		note = strings.TrimSuffix("not signed: needs key "+by.account.KeyID+", "+by.account.Path, ", ")
	case !by.ours:
		return whose(fmt.Sprintf("input %d", index), false, s.reason(index))
	}
	return whose(fmt.Sprintf("input %d", index), true, note)
}

// whose returns a field that says whether an input or output is of the organization.
func whose(label string, ours bool, note string) chains.Field {
	if ours {
		return chains.Text(label, "yours").WithNote(note)
	}
	return chains.Text(label, "not yours").WithNote(note)
}

func (s *signing) status(input int) string {
	all, missing := 0, 0
	var leaf *leaf
	for i := range s.signatures {
		if sig := &s.signatures[i]; sig.in.index == input {
			all++
			if leaf = sig.leaf; !sig.made() {
				missing++
			}
		}
	}
	switch {
	case s.tx.inputs[input].final:
		return reasonFinal
	case s.signer(input) == nil:
		return "not signed: " + s.reason(input)
	case all == 0:
		return reasonOtherAddress + ": not signed"
	case missing == 0:
		return "signed already"
	case leaf != nil:
		return fmt.Sprintf("to be signed in %d of its leaf scripts", missing)
	case missing > 1:
		return fmt.Sprintf("to be signed by %d keys", missing)
	}
	return "to be signed"
}

// viewOutput shows whose an output is, of which an amount is change.
func (s *signing) viewOutput(index int, back uint64) chains.Field {
	label, of := fmt.Sprintf("output %d", index), s.ownership().registered.outputs[index].of
	code := outputCode(&s.tx.packet.Outputs[index])
	switch {
	case of != nil:
		return whose(label, true, named(of)+": "+s.returning(index, back))
	case s.ownership().output(index).ours:
		return whose(label, true, s.returning(index, back))
	// That an output's script, if the PSBT shows it, has one of the keys does not make it change: such a
	// script gives the money to its other keys as well, and nothing in a PSBT proves whose they are. An
	// attacker who writes its global extended keys and derivations can put keys of their own in the place
	// of the cosigners' keys.
	case slices.ContainsFunc(s.keys, func(m *signingKey) bool { return hasPush(code, m.key[:]) }):
		return whose(label, false, "one of your keys is in its script, which does not say whose the others are")
	}
	return whose(label, false, "")
}

// returning describes how much of an output of the organization's is change.
func (s *signing) returning(index int, back uint64) string {
	out := &s.tx.packet.Outputs[index]
	switch {
	case s.plan.leavesOpen(index):
		return "a signature leaves it open"
	case back == out.Amount:
		return "change"
	case back > 0:
		return "change of " + btc(back) + ", the rest is a payment"
	}
	for _, in := range s.ours() {
		if from := s.ownership().input(in.index); from.ours && from.wallet == s.ownership().output(index).wallet {
			return "a payment: its wallet does not sign for as much"
		}
	}
	return "a payment, to another wallet of yours"
}
