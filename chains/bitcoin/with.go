package bitcoin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// signing is a PSBT that is ready to be signed by the keys that were given.
type signing struct {
	tx         *transaction
	asked      selection
	keys       []*signingKey // every key that was given, whether or not it signs
	signatures []signature   // that are to be made
	plan       plan          // what they do
	accounts   chains.Accounts

	owned *ownership // see ownership
}

// With implements chains.Request: each key signs every input that it can, or every such
// input that is locked to the address. Either all signatures are made, as far as can be
// known beforehand, or none.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &signing{tx: r.tx, asked: r.asked, accounts: givenKeys{}}
	for _, key := range keys {
		pub := key.PublicKey()
		twice := slices.ContainsFunc(s.keys, func(m *signingKey) bool { return m.pub == pub })
		if !twice && pub.Curve() == keystore.CurveSecp256k1 {
			s.keys = append(s.keys, &signingKey{signer: key, pub: pub, reasons: make([]string, len(r.tx.inputs)),
				hash: pub.Hash160(), key: pub.Compressed()})
		}
	}
	if err := s.deriveRedeemScripts(); err != nil {
		return nil, err
	}
	for _, m := range s.keys {
		if err := s.add(m); err != nil {
			return nil, err
		}
	}
	if len(s.signatures) == 0 {
		return nil, s.nothingToSign(keys)
	}
	signed := make([]*input, 0, len(s.signatures))
	for i := range s.signatures {
		signed = append(signed, s.signatures[i].in)
	}
	slices.SortFunc(signed, func(a, b *input) int { return a.index - b.index })
	s.plan.of(s.tx, slices.Compact(signed))
	return s, s.checkWhole()
}

// deriveRedeemScripts completes the inputs of P2SH-P2WPKH addresses of the keys whose redeem
// script the PSBT does not have: it follows from the key. The transaction that was read, whose
// summary depends on the bytes alone, does not change.
func (s *signing) deriveRedeemScripts() error {
	copied := false
	for i := range s.tx.inputs {
		for _, m := range s.keys {
			if s.tx.inputs[i].kind != p2shUnknown || s.tx.inputs[i].final {
				break
			}
			redeem, ok := m.redeemScript(s.tx.inputs[i].script)
			if !ok {
				continue
			}
			if !copied {
				tx := *s.tx
				tx.inputs = slices.Clone(tx.inputs)
				s.tx, copied = &tx, true
			}
			in := &s.tx.inputs[i]
			in.kind, in.code, in.derived = p2shP2wpkh, redeem, true
			if err := in.readSighash(len(s.tx.packet.Outputs)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkWhole refuses to leave out an input that signWith asks for: one that is locked to the
// address, to the registered wallet, or to a key of its own. Inputs of other keys are left to them.
func (s *signing) checkWhole() error {
	for i := range s.tx.inputs {
		in := &s.tx.inputs[i]
		if in.final || s.signer(i) != nil {
			continue
		}
		locked := func(m *signingKey) bool { return m.isUncompressed(in.script) }
		if s.asked.all() && slices.ContainsFunc(s.keys, locked) || !s.asked.all() && s.asked.refuses(in) == "" {
			return signerError(chains.ErrNotSigner,
				"input %d, of %s, is to be signed too and cannot be: %s; nothing was signed", i, btc(in.amount),
				s.reason(i))
		}
	}
	return nil
}

// add adds what one key signs. It refuses inputs that are already final, and inputs that need a
// capability which the key lacks: then no input is signed.
func (s *signing) add(m *signingKey) error {
	first := len(s.signatures)
	s.signatures = slices.Grow(s.signatures, len(s.tx.inputs))
	for i := range s.tx.inputs {
		in, before := &s.tx.inputs[i], len(s.signatures)
		s.signatures, m.reasons[i] = m.appendSignatures(s.signatures, in)
		if s.asked.refuses(in) != "" {
			s.signatures = s.signatures[:before]
		}
	}
	for i := first; i < len(s.signatures); i++ {
		if err := s.signatures[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (sig *signature) check() error {
	if sig.in.final {
		return malformed(fmt.Sprintf("input %d", sig.in.index), sig.in.Offset,
			"already final: take its final script and witness out to have it signed again")
	}
	if !sig.schnorr {
		_, err := keystore.AsECDSA(sig.by.signer)
		return err
	}
	if _, err := keystore.AsSchnorr(sig.by.signer); err != nil {
		return fmt.Errorf("%s: input %d is taproot: %w: move the funds to a P2WPKH address of this key, "+
			"or name an address that is not taproot as signWith", Name, sig.in.index, err)
	}
	return nil
}

func (s *signing) signer(input int) *signingKey {
	for _, m := range s.keys {
		if m.reasons[input] == "" {
			return m
		}
	}
	return nil
}

func (s *signing) KeyIDs() []string {
	var ids []string
	for i := range s.signatures {
		if id := s.signatures[i].by.signer.ID(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// maxReasons is the largest number of different reasons in an error.
const maxReasons = 20

// nothingToSign returns the error that says for each input why none of the keys signs it.
func (s *signing) nothingToSign(keys []keystore.Key) error {
	if len(s.keys) == 0 {
		return fmt.Errorf("%s: %w: key %s is on %v", Name, keystore.ErrUnsupported, keys[0].ID(),
			keys[0].PublicKey().Curve())
	}
	var reasons []string
	last, first := "", 0
	flush := func(end int) {
		switch {
		case last == "":
		case first == end:
			reasons = append(reasons, fmt.Sprintf("input %d: %s", first, last))
		default:
			reasons = append(reasons, fmt.Sprintf("inputs %d to %d: %s", first, end, last))
		}
	}
	for i := range s.tx.inputs {
		if reason := s.reason(i); reason != last {
			flush(i - 1)
			last, first = reason, i
		}
	}
	flush(len(s.tx.inputs) - 1)
	if more := len(reasons) - maxReasons; more > 0 {
		reasons = append(reasons[:maxReasons], fmt.Sprintf("and %d more", more))
	}
	who := "key " + s.keys[0].pub.String()
	if len(s.keys) > 1 {
		who = fmt.Sprintf("any of %d keys", len(s.keys))
	}
	return signerError(chains.ErrNotSigner, "nothing to sign for %s: %s", who, strings.Join(reasons, "; "))
}

// reason returns why an input is not signed. Of several keys, a reason other than that
// the input is not the key's own takes precedence.
func (s *signing) reason(input int) string {
	if reason := s.asked.refuses(&s.tx.inputs[input]); reason != "" {
		return reason
	}
	reason := ""
	for _, m := range s.keys {
		switch reason {
		case "", reasonOtherKey, reasonNotInScript, reasonNotTaproot:
			reason = m.reasons[input]
		}
	}
	return reason
}
