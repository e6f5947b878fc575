package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
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
	for i, back := range s.change(s.signed()) {
		fields = append(fields, s.viewOutput(i, back))
	}
	spent, back := s.flow()
	return append(fields, amount("your inputs", spent), amount("back to you", back),
		s.tx.provenTotal(amount("you spend", spent-back).WithNote("fee included")))
}

func (s *signing) viewInput(index int) chains.Field {
	label := fmt.Sprintf("input %d", index)
	if of := s.registry().inputs[index].of; of != nil {
		return chains.Text(label, "yours").WithNote(named(of) + ", " + s.doingFor(index))
	}
	if s.owner(index) != nil {
		note := s.status(index)
		if s.tx.inputs[index].filledIn != nil { // the summary has the bytes alone, in which it is P2SH
			note += " as P2SH-P2WPKH: its redeem script follows from the key, and is filled in"
		}
		return chains.Text(label, "yours").WithNote(note)
	}
	if holder, ours := s.holder(s.tx.inputs[index].script); ours {
		return chains.Text(label, "yours").WithNote(s.needs(index, holder))
	}
	return chains.Text(label, "not yours").WithNote(s.reason(index))
}

// doingFor describes what signing does to an input of a registered wallet.
func (s *signing) doingFor(index int) string {
	switch {
	case s.owner(index) != nil:
		return s.status(index)
	case s.tx.inputs[index].final:
		return reasonFinal
	}
	return "not signed: " + s.reason(index)
}

// needs returns what an input of the organization's needs to be signed that this request
// does not sign.
func (s *signing) needs(index int, holder chains.Account) string {
	if s.tx.inputs[index].final {
		return reasonFinal
	}
	text := "not signed: needs key " + holder.KeyID
	if holder.Path != "" {
		text += ", " + holder.Path
	}
	return text
}

// owner returns the first key that can sign an input, nil if
// none can.
func (s *signing) owner(input int) *signingKey {
	for _, m := range s.signers {
		if m.reasons[input] == "" {
			return m
		}
	}
	return nil
}

// status describes what signing does to an input of a key.
func (s *signing) status(input int) string {
	all, missing := 0, 0
	var leaf *leaf
	for i := range s.tasks {
		if k := &s.tasks[i]; k.in.index == input {
			all++
			if leaf = k.leaf; !k.done() {
				missing++
			}
		}
	}
	switch {
	case s.tx.inputs[input].final:
		return reasonFinal
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
	label := fmt.Sprintf("output %d", index)
	if of := s.registry().outputs[index].of; of != nil {
		return chains.Text(label, "yours").WithNote(named(of) + ": " + s.returning(index, back))
	}
	if s.isOurs(index) {
		return chains.Text(label, "yours").WithNote(s.returning(index, back))
	}
	if s.sharesOutput(index) {
		return chains.Text(label, "not yours").WithNote("one of your keys is in its script, which does not say whose the others are")
	}
	return chains.Text(label, "not yours")
}

// returning describes how much of an output of the organization's is change.
func (s *signing) returning(index int, back uint64) string {
	out := &s.tx.packet.Outputs[index]
	switch {
	case leavesOpen(s.inputs(), index):
		return "a signature leaves it open"
	case back == out.Amount:
		return "change"
	case back > 0:
		return "change of " + btc(back) + ", the rest is a payment"
	}
	to, _ := s.outputWallet(index)
	for _, in := range s.ours() {
		if from, ok := s.inputWallet(in); ok && from == to {
			return "a payment: its wallet does not sign for as much"
		}
	}
	return "a payment, to another wallet of yours"
}

// sharesOutput reports whether the script of an output, if the PSBT shows it, has one
// of the keys. That does not make the output change: such a script gives the money to
// its other keys as well, and nothing in a PSBT proves whose they are. An attacker who
// writes its global extended keys and derivations can put keys of their own in the place
// of the cosigners' keys.
func (s *signing) sharesOutput(index int) bool {
	code := outputCode(&s.tx.packet.Outputs[index])
	if code == nil {
		return false
	}
	shares := false
	pushes(code, func(_ byte, data []byte) bool {
		shares = slices.ContainsFunc(s.signers, func(m *signingKey) bool { return bytes.Equal(m.key[:], data) })
		return shares
	})
	return shares
}

// outputCode returns the script whose hash an output is locked to, if the PSBT has that
// script.
func outputCode(out *psbt.Output) []byte {
	script := out.Script
	if classify(script) == p2shUnknown {
		redeem := out.Value(psbt.OutRedeemScript)
		if !bytes.Equal(address.Hash160(redeem), script[2:22]) {
			return nil
		}
		script = redeem
		if classify(script) != p2wsh {
			return script
		}
	}
	if classify(script) != p2wsh {
		return nil
	}
	witness := out.Value(psbt.OutWitnessScript)
	if hash := sha256.Sum256(witness); !bytes.Equal(hash[:], script[2:]) {
		return nil
	}
	return witness
}
