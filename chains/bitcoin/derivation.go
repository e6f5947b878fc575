package bitcoin

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// Derivation is what a PSBT claims about the origin of a key (BIP-174, BIP-371). Only
// deriving the key proves it.
type Derivation struct {
	Fingerprint [4]byte  // of the master key
	Path        []uint32 // hardened steps with 2^31 added
	PublicKey   []byte   // compressed, 33 bytes; x-only, 32 bytes, in taproot records
	Of          string   // what names the key first, such as "output 1"
}

// Derivations returns the key origins of a PSBT's inputs and outputs in order, each
// once. The PSBT is read as strictly as for signing; the errors are those of Parse.
func Derivations(raw []byte) (derivations []Derivation, err error) {
	packet, err := psbt.Read(raw)
	if err != nil {
		return nil, err
	}
	add := func(of string, m *psbt.Map, plain, taproot uint64) {
		for _, record := range m.Records {
			d, ok := derivationOf(&record, plain, taproot)
			known := slices.ContainsFunc(derivations, func(other Derivation) bool {
				return other.Fingerprint == d.Fingerprint && slices.Equal(other.Path, d.Path) &&
					slices.Equal(other.PublicKey, d.PublicKey)
			})
			if d.Of = of; ok && !known {
				derivations = append(derivations, d)
			}
		}
	}
	for i := range packet.Inputs {
		add(fmt.Sprintf("input %d", i), &packet.Inputs[i].Map, psbt.InBIP32Derivation, psbt.InTapBIP32Derivation)
	}
	for i := range packet.Outputs {
		add(fmt.Sprintf("output %d", i), &packet.Outputs[i].Map, psbt.OutBIP32Derivation, psbt.OutTapBIP32Derivation)
	}
	return derivations, nil
}

// derivationOf reads a record, whose form psbt.Read has checked.
func derivationOf(record *psbt.Record, plain, taproot uint64) (d Derivation, ok bool) {
	value := record.Value
	switch record.Type {
	case plain:
	case taproot:
		value, _ = psbt.TapOrigin(value)
	default:
		return d, false
	}
	if len(value) < 4 {
		return d, false
	}
	d.Fingerprint, d.PublicKey = [4]byte(value[:4]), record.Data()
	for steps := value[4:]; len(steps) >= 4; steps = steps[4:] {
		d.Path = append(d.Path, binary.LittleEndian.Uint32(steps))
	}
	return d, true
}
