package bitcoin

import "github.com/countersign-dev/countersign/internal/psbt"

// Transaction exports transaction for tests.
type Transaction = transaction

// Packet returns the PSBT that was read.
func (t *transaction) Packet() *psbt.Packet { return t.packet }

// ParseUnproven parses a PSBT without checking that a legacy input has the transaction
// that it spends: the vectors of BIP-341 do not include it.
func ParseUnproven(raw []byte) (*transaction, error) {
	packet, err := psbt.Read(raw)
	if err != nil {
		return nil, err
	}
	t := &transaction{unsignedTx: unsignedTx{packet: packet}, limits: Limits{}.withDefaults()}
	if err := t.checkShape(); err != nil {
		return nil, err
	}
	t.inputs = make([]input, len(packet.Inputs))
	for i := range t.inputs {
		in := &t.inputs[i]
		in.Input, in.index = &packet.Inputs[i], i
		for _, step := range []func() error{in.readUTXO, in.readScripts, in.readTaproot, func() error { return in.readSighash(len(packet.Outputs)) }} {
			if err := step(); err != nil {
				return nil, err
			}
		}
	}
	return t, t.checkAmounts()
}

// ScriptOf returns the output script that an address stands for.
func ScriptOf(address string) ([]byte, error) {
	decoded, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	return decoded.script, nil
}

// AccountOf is tested from outside the package.
var AccountOf = accountOf
