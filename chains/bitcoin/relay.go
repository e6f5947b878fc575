package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
)

// The policy of Bitcoin Core's IsStandardTx, IsDust and PreCheckEphemeralTx.
const (
	minRelayedVersion = 1
	maxRelayedVersion = 3
	maxTopology       = 10_000 // virtual bytes of a transaction of version 3 (BIP-431)

	dustRate     = 3                      // satoshi per virtual byte
	spendSize    = 32 + 4 + 1 + 107 + 4   // of an input that spends an output, in bytes
	witnessSpend = 32 + 4 + 1 + 107/4 + 4 // of one with a witness, in virtual bytes
)

// dustLimit returns the amount below which an output is dust: it would cost more than a
// third of it to spend it at 1 sat/vB. What can never be spent is never dust.
func dustLimit(script []byte) uint64 {
	if len(script) > 0 && script[0] == txscript.OP_RETURN || len(script) > maxScript {
		return 0
	}
	size := 8 + psbt.CompactSizeLen(uint64(len(script))) + len(script)
	if txscript.IsWitnessProgram(script) {
		return uint64(size+witnessSpend) * dustRate
	}
	return uint64(size+spendSize) * dustRate
}

// neverRelayed finds what no node with Bitcoin Core's policy relays. A transaction
// without a fee may have one output of dust, which another spends in the same package.
func (p *plan) neverRelayed() *chains.Hazard {
	var dust []int // but an output that a signature leaves open can still get another amount
	for i := range p.tx.packet.Outputs {
		if out := &p.tx.packet.Outputs[i]; out.Amount < dustLimit(out.Script) && !p.leavesOpen(i) {
			dust = append(dust, i)
		}
	}
	detail := ""
	v, size := p.tx.packet.TxVersion, p.tx.VirtualSize()
	switch {
	case v < minRelayedVersion || v > maxRelayedVersion:
		detail = fmt.Sprintf("transaction version %d: nodes relay versions %d to %d", int32(v), minRelayedVersion,
			maxRelayedVersion)
	case v == maxRelayedVersion && size > maxTopology:
		detail = fmt.Sprintf("about %d virtual bytes: nodes relay at most %d of version 3", size, maxTopology)
	case len(dust) == 0 || len(dust) == 1 && p.tx.Fee() == 0:
		return nil
	default:
		out := &p.tx.packet.Outputs[dust[0]]
		detail = fmt.Sprintf("output %d has %d sat: nodes relay none of this form below %d sat", dust[0], out.Amount,
			dustLimit(out.Script))
		if more := len(dust) - 1; more > 0 {
			detail += fmt.Sprintf("; %d more outputs are dust", more)
		}
	}
	return &chains.Hazard{Name: HazardNeverRelayed, Detail: detail}
}
