package bitcoin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// signing is a PSBT that is ready to be signed by the keys that were given.
type signing struct {
	tx       *transaction
	target   *target
	only     *registered   // of the registered wallet that is asked to sign; nil if none is
	signers  []*signingKey // of every key that was given, whether or not it signs
	tasks    []task        // every signature that is to be made
	accounts chains.Accounts

	registered *registered // see registry
}

// With implements chains.Request: each key signs every input that it can, or every such
// input that is locked to the address. Either all signatures are made, as far as can be
// known beforehand, or none.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &signing{tx: r.tx, target: r.target, only: r.only, accounts: givenKeys{}}
	for _, key := range keys {
		pub := key.PublicKey()
		twice := slices.ContainsFunc(s.signers, func(m *signingKey) bool { return m.pub == pub })
		if !twice && pub.Curve() == keystore.CurveSecp256k1 {
			s.signers = append(s.signers, newSigningKey(key, len(r.tx.inputs)))
		}
	}
	if err := s.fillIn(); err != nil {
		return nil, err
	}
	for _, m := range s.signers {
		if err := s.plan(m); err != nil {
			return nil, err
		}
	}
	if len(s.tasks) == 0 {
		return nil, s.nothingToSign(keys)
	}
	return s, s.checkWhole()
}

// fillIn completes the inputs of P2SH-P2WPKH addresses of the keys whose redeem script the
// PSBT does not have: it follows from the key. The transaction that was read, whose
// summary depends on the bytes alone, does not change.
func (s *signing) fillIn() error {
	copied := false
	for i := range s.tx.inputs {
		for _, m := range s.signers {
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
			in.kind, in.code, in.filledIn = p2shP2wpkh, redeem, redeem
			if err := in.readSighash(len(s.tx.packet.Outputs)); err != nil {
				return err
			}
		}
	}
	return nil
}

// narrowed reports whether signWith asks only for some inputs: those of an address, or of a
// registered wallet.
func (s *signing) narrowed() bool { return s.target != nil || s.only != nil }

// asks reports whether signWith asks for an input, if a key can sign it.
func (s *signing) asks(in *input) bool {
	switch {
	case s.target != nil:
		return bytes.Equal(in.script, s.target.script)
	case s.only != nil:
		return s.only.inputs[in.index].of != nil
	}
	return true
}

// checkWhole refuses to leave out an input that signWith asks for: one that is locked to the
// address, to the registered wallet, or to a key of its own. Inputs of other keys are left to
// them.
func (s *signing) checkWhole() error {
	for i := range s.tx.inputs {
		in := &s.tx.inputs[i]
		if in.final || s.owner(i) != nil {
			continue
		}
		asked := s.narrowed() && s.asks(in)
		if !s.narrowed() {
			asked = slices.ContainsFunc(s.signers, func(m *signingKey) bool { return m.isUncompressed(in.script) })
		}
		if asked {
			return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: fmt.Sprintf(
				"input %d, of %s, is to be signed too and cannot be: %s; nothing was signed", i, btc(in.amount), s.reason(i))}
		}
	}
	return nil
}

// plan adds what one key signs.
func (s *signing) plan(m *signingKey) error {
	first := len(s.tasks)
	s.tasks = slices.Grow(s.tasks, len(s.tx.inputs))
	for i := range s.tx.inputs {
		in, before := &s.tx.inputs[i], len(s.tasks)
		s.tasks, m.reasons[i] = m.appendTasks(s.tasks, in)
		if !s.asks(in) {
			s.tasks = s.tasks[:before]
		}
	}
	return checkTasks(m.signer, s.tasks[first:])
}

// checkTasks refuses inputs that are already final, and inputs that need a capability
// which the key lacks: then no input is signed.
func checkTasks(key keystore.Key, tasks []task) error {
	for i := range tasks {
		in := tasks[i].in
		if in.final {
			return malformed(fmt.Sprintf("input %d", in.index), in.Offset,
				"already final: take its final script and witness out to have it signed again")
		}
		if err := capable(key, &tasks[i]); err != nil {
			return err
		}
	}
	return nil
}

func capable(key keystore.Key, k *task) error {
	if !k.schnorr {
		_, err := keystore.AsECDSA(key)
		return err
	}
	if _, err := keystore.AsSchnorr(key); err != nil {
		return fmt.Errorf("%s: input %d is taproot: %w: move the funds to a P2WPKH address of this key, "+
			"or name an address that is not taproot as signWith", Name, k.in.index, err)
	}
	return nil
}

// KeyIDs implements chains.Signing.
func (s *signing) KeyIDs() []string {
	var ids []string
	for i := range s.tasks {
		if id := s.tasks[i].by.signer.ID(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// maxReasons is the largest number of different reasons in an error.
const maxReasons = 20

// nothingToSign returns the error that says for each input why none of the keys signs
// it.
func (s *signing) nothingToSign(keys []keystore.Key) error {
	if len(s.signers) == 0 {
		return fmt.Errorf("%s: %w: key %s is on %v", Name, keystore.ErrUnsupported, keys[0].ID(), keys[0].PublicKey().Curve())
	}
	var reasons []string
	last, first := "", 0
	flush := func(end int) {
		if last != "" {
			reasons = append(reasons, inputRange(first, end)+": "+last)
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
	who := "key " + s.signers[0].pub.String()
	if len(s.signers) > 1 {
		who = fmt.Sprintf("any of %d keys", len(s.signers))
	}
	return &chains.SignerError{
		Kind: chains.ErrNotSigner, Chain: Name,
		Problem: fmt.Sprintf("nothing to sign for %s: %s", who, strings.Join(reasons, "; ")),
	}
}

// reason returns why an input is not signed. Of several keys, a reason other than that
// the input is not the key's own takes precedence.
func (s *signing) reason(input int) string {
	if !s.asks(&s.tx.inputs[input]) {
		if s.only != nil {
			return reasonOtherWallet
		}
		return reasonOtherAddress
	}
	reason := ""
	for _, m := range s.signers {
		switch reason {
		case "", reasonOtherKey, reasonNotInScript, reasonNotTaproot:
			reason = m.reasons[input]
		}
	}
	return reason
}

func inputRange(first, last int) string {
	if first == last {
		return fmt.Sprintf("input %d", first)
	}
	return fmt.Sprintf("inputs %d to %d", first, last)
}
