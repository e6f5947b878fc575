package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/big"
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
	for i := range s.tx.packet.Outputs {
		fields = append(fields, s.viewOutput(i))
	}
	spent, back := s.flow(nil)
	fields = append(fields, amount("your inputs", spent), amount("back to you", back))
	net, label := spent-back, "you spend"
	if back > spent {
		net, label = back-spent, "you receive"
	}
	note := "fee included"
	if len(s.signers) == 1 {
		note = "fee included; by the addresses of one key"
	}
	return append(fields, s.tx.provenTotal(amount(label, net).WithNote(note)))
}

func (s *signing) viewInput(index int) chains.Field {
	label := fmt.Sprintf("input %d", index)
	if s.owner(index) != nil {
		return chains.Text(label, "yours").WithNote(s.doing(index))
	}
	return chains.Text(label, "not yours").WithNote(s.reason(index))
}

// owner returns the matches of the first key that can sign an input, nil if
// none can.
func (s *signing) owner(input int) *matches {
	for _, m := range s.signers {
		if m.reasons[input] == "" {
			return m
		}
	}
	return nil
}

// doing describes what signing does to an input of a key.
func (s *signing) doing(input int) string {
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

func (s *signing) viewOutput(index int) chains.Field {
	label := fmt.Sprintf("output %d", index)
	if s.paysUs(s.tx.packet.Outputs[index].Script) {
		return chains.Text(label, "yours").WithNote("change")
	}
	if s.sharesOutput(index) {
		return chains.Text(label, "not yours").WithNote("one of your keys is in its script, which does not say whose the others are")
	}
	return chains.Text(label, "not yours")
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
		shares = slices.ContainsFunc(s.signers, func(m *matches) bool { return bytes.Equal(m.key[:], data) })
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

// paysUs reports whether an output script is one of the keys' addresses. The scripts
// are derived from the keys: derivation paths in the PSBT are not trusted.
func (s *signing) paysUs(script []byte) bool {
	for _, m := range s.signers {
		for _, output := range m.addresses() {
			if bytes.Equal(script, output.script) {
				return true
			}
		}
	}
	return false
}

// flow adds up what the keys' inputs spend and what outputs give back, in satoshi. An
// input counts if one of the keys can sign it, or if yours reports true for its script;
// an output if it pays an address of the keys, or if yours reports true. yours may be
// nil.
func (s *signing) flow(yours func(script []byte) bool) (spent, back uint64) {
	for i := range s.tx.inputs {
		if s.owner(i) != nil || yours != nil && yours(s.tx.inputs[i].script) {
			spent += s.tx.inputs[i].amount
		}
	}
	for i := range s.tx.packet.Outputs {
		out := &s.tx.packet.Outputs[i]
		if s.paysUs(out.Script) || yours != nil && yours(out.Script) {
			back += out.Amount
		}
	}
	return spent, back
}

// Balance implements chains.Balancer: the satoshi that leave the wallet. Outputs that a
// signature leaves open do not count as coming back. The balance is unknown if a lie
// about an amount could change it.
func (s *signing) Balance(yours func(script []byte) bool) chains.Quantity {
	if s.tx.message != nil {
		return chains.ExactlyUint(0)
	}
	signed := s.inputs()
	if _, unproven := s.tx.unproven(signed); unproven {
		return chains.UnknownQuantity()
	}
	spent, back := s.flow(yours)
	for i := range s.tx.packet.Outputs {
		if leavesOpen(signed, i) {
			return chains.AtMost(net(spent, 0))
		}
	}
	return chains.Exactly(net(spent, back))
}

// net returns what leaves, 0 if more comes back.
func net(spent, back uint64) *big.Int {
	return new(big.Int).SetUint64(spent - min(spent, back))
}
