package bitcoin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// plan is the signatures that a key is to make for a signWith. It refuses all
// that can be refused before the first is made.
func (t *Transaction) plan(key keystore.Key, signWith string) ([]task, error) {
	pub := key.PublicKey()
	if pub.Curve() != keystore.CurveSecp256k1 {
		return nil, fmt.Errorf("%s: %w: key %s is on %v", Name, keystore.ErrUnsupported, key.ID(), pub.Curve())
	}
	target, err := t.target(signWith)
	if err != nil {
		return nil, err
	}
	m := t.match(pub)
	tasks := m.tasks
	if target != nil {
		tasks = m.lockedTo(target.script)
	}
	if len(tasks) == 0 {
		return nil, t.nothingToSign(m, target)
	}
	return tasks, checkTasks(key, tasks)
}

// lockedTo returns the tasks whose inputs spend outputs with this script.
func (m *matches) lockedTo(script []byte) []task {
	other := func(t task) bool { return !bytes.Equal(t.in.script, script) }
	if !slices.ContainsFunc(m.tasks, other) {
		return m.tasks
	}
	return slices.DeleteFunc(slices.Clone(m.tasks), other)
}

// checkTasks refuses an input of ours that is final, and one that the key
// cannot sign for: then none is signed.
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

// maxReasons bounds how many different reasons an error lists.
const maxReasons = 20

// nothingToSign says of each input why the key signs nothing there.
func (t *Transaction) nothingToSign(m *matches, target *target) error {
	var reasons []string
	last, first := "", 0
	flush := func(end int) {
		if last != "" {
			reasons = append(reasons, inputRange(first, end)+": "+last)
		}
	}
	for i := range t.inputs {
		reason := m.inputs[i].reason
		if target != nil && !bytes.Equal(t.inputs[i].script, target.script) {
			reason = reasonOtherAddress
		}
		if reason != last {
			flush(i - 1)
			last, first = reason, i
		}
	}
	flush(len(t.inputs) - 1)
	if more := len(reasons) - maxReasons; more > 0 {
		reasons = append(reasons[:maxReasons], fmt.Sprintf("and %d more", more))
	}
	return &chains.SignerError{
		Kind: chains.ErrNotSigner, Chain: Name,
		Problem: fmt.Sprintf("nothing to sign for key %s: %s", m.pub, strings.Join(reasons, "; ")),
	}
}

func inputRange(first, last int) string {
	if first == last {
		return fmt.Sprintf("input %d", first)
	}
	return fmt.Sprintf("inputs %d to %d", first, last)
}
