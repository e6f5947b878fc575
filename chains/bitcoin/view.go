package bitcoin

import (
	"bytes"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// SignerView implements chains.Transaction: which inputs the key signs, which
// outputs come back to it, and what leaves it.
func (t *Transaction) SignerView(signer keystore.PublicKey) []chains.Field {
	scripts, err := keyScripts(signer)
	if err != nil {
		return nil
	}
	fields, spent := t.viewInputs(signer)
	outputs, back := t.viewOutputs(scripts)
	fields = append(fields, outputs...)
	fields = append(fields, amount("ours in", spent), amount("ours out", back))
	if spent >= back {
		fields = append(fields, amount("leaves us", spent-back).WithNote("fee included"))
	}
	return fields
}

// viewInputs lists what the key signs, and adds up what those inputs spend.
func (t *Transaction) viewInputs(signer keystore.PublicKey) (fields []chains.Field, spent uint64) {
	m := t.match(signer)
	for i := range t.inputs {
		in, label := &t.inputs[i], fmt.Sprintf("input %d", i)
		if m.inputs[i].reason != "" {
			fields = append(fields, chains.Text(label, "not ours").WithNote(m.inputs[i].reason))
			continue
		}
		spent += in.amount
		fields = append(fields, chains.Text(label, "ours").WithNote(m.doing(i)))
	}
	return fields, spent
}

// doing says what signing does to an input that is ours.
func (m *matches) doing(index int) string {
	missing, tasks := 0, m.tasks[m.inputs[index].first:m.inputs[index].end]
	for i := range tasks {
		if !tasks[i].done(tasks[i].key(m)) {
			missing++
		}
	}
	switch {
	case tasks[0].in.final:
		return reasonFinal
	case missing == 0:
		return "signed already"
	case tasks[0].leaf != nil:
		return fmt.Sprintf("to be signed in %d leaf scripts", missing)
	}
	return "to be signed"
}

// viewOutputs finds the outputs to addresses of the key.
func (t *Transaction) viewOutputs(scripts []keyScript) (fields []chains.Field, back uint64) {
	for i := range t.packet.Outputs {
		out, label := &t.packet.Outputs[i], fmt.Sprintf("output %d", i)
		switch {
		case paysTo(out, scripts):
			back += out.Amount
			fields = append(fields, chains.Text(label, "ours"))
		default:
			fields = append(fields, chains.Text(label, "not ours"))
		}
	}
	return fields, back
}

func paysTo(out *psbt.Output, scripts []keyScript) bool {
	for i := range scripts {
		if bytes.Equal(out.Script, scripts[i].script) {
			return true
		}
	}
	return false
}
