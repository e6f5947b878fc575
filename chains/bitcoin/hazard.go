package bitcoin

import (
	"fmt"
	"math/bits"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// The hazards.
const (
	// HazardSighashNone: SIGHASH_NONE. Whoever gets the signature decides where
	// the money goes.
	HazardSighashNone = "bitcoin/sighash-none"

	// HazardSighashSingle: SIGHASH_SINGLE. All outputs but one stay open.
	HazardSighashSingle = "bitcoin/sighash-single"

	// HazardSighashAnyoneCanPay: SIGHASH_ANYONECANPAY. Others may add inputs.
	HazardSighashAnyoneCanPay = "bitcoin/sighash-anyonecanpay"

	// HazardUnprovenAmount: an amount is a claim of the PSBT, so that the fee
	// may be higher than it looks.
	HazardUnprovenAmount = "bitcoin/unproven-amount"

	// HazardHighFee: a fee or a fee rate over the limit.
	HazardHighFee = "bitcoin/high-fee"

	// HazardBurn: value for an output that can never be spent.
	HazardBurn = "bitcoin/burn"

	// HazardAnyoneCanSpend: value for an output that is not locked to anyone, or
	// whose script has no known form.
	HazardAnyoneCanSpend = "bitcoin/anyone-can-spend"
)

// Hazards implements chains.Transaction. Of a key it returns what signing with
// it would risk, whichever of its inputs signWith picks. Without a key, or for
// one that signs nothing here, it returns what any signer would have to allow.
func (t *Transaction) Hazards(signer keystore.PublicKey) []chains.Hazard {
	if t.message != nil {
		return nil // it moves nothing
	}
	var ours []task
	if signer.Curve() == keystore.CurveSecp256k1 {
		ours = t.match(signer).tasks
	}
	hazards := t.sighashHazards(ours)
	if hazard, unproven := t.unproven(ours); unproven {
		hazards = append(hazards, hazard)
	}
	if hazard, high := t.highFee(); high {
		hazards = append(hazards, hazard)
	}
	return append(hazards, t.outputHazards()...)
}

var sighashHazards = []struct {
	name, means string
	applies     func(sighash byte) bool
}{
	{HazardSighashNone, "signs no outputs: whoever gets the signature decides where the money goes",
		func(s byte) bool { return s&sighashOutputs == sighashNone }},
	{HazardSighashSingle, "signs one output: the others may be changed",
		func(s byte) bool { return s&sighashOutputs == sighashSingle }},
	{HazardSighashAnyoneCanPay, "signs one input: others may be added or changed",
		func(s byte) bool { return s&sighashAnyoneCanPay != 0 }},
}

// sighashHazards looks at the inputs that are ours, or at all that are open.
func (t *Transaction) sighashHazards(ours []task) []chains.Hazard {
	var hazards []chains.Hazard
	for _, kind := range sighashHazards {
		if in := t.firstWith(ours, kind.applies); in != nil {
			detail := fmt.Sprintf("input %d, %s: %s", in.index, sighashName(in.sighash), kind.means)
			hazards = append(hazards, chains.Hazard{Name: kind.name, Detail: detail})
		}
	}
	return hazards
}

func (t *Transaction) firstWith(ours []task, applies func(byte) bool) *input {
	for i := range ours {
		if applies(ours[i].in.sighash) {
			return ours[i].in
		}
	}
	for i := range t.inputs {
		if in := &t.inputs[i]; len(ours) == 0 && !in.final && applies(in.sighash) {
			return in
		}
	}
	return nil
}

// unproven looks for an amount that nothing proves, and that some signature of
// this request does not commit to. Without this hazard a signature of ours is
// valid only if all that the PSBT claims is true.
func (t *Transaction) unproven(ours []task) (chains.Hazard, bool) {
	for i := range t.inputs {
		in := &t.inputs[i]
		if in.proven || t.allCommitTo(ours, in) {
			continue
		}
		return chains.Hazard{Name: HazardUnprovenAmount, Detail: fmt.Sprintf(
			"input %d (%s): its amount of %s is claimed by %s alone, so that the fee may be higher than it looks: "+
				"add the transaction that is spent as %s", in.index, in.kind, btc(in.amount), fieldWitnessUTXO, fieldNonWitnessUTXO,
		)}, true
	}
	return chains.Hazard{}, false
}

// allCommitTo reports whether every signature of this request commits to the
// amount of an input: a lie about it makes all of them worthless. Without a
// key, every input that is not final counts as signed.
//
// It does not suffice that one of them commits to it, nor that another input is
// claimed to be ours: a signature that commits to less stays valid whatever the
// PSBT says, and two PSBTs that each lie about one input yield together what
// neither of them showed (CVE-2020-14199).
func (t *Transaction) allCommitTo(ours []task, other *input) bool {
	for i := range ours {
		if !ours[i].in.commitsTo(other) {
			return false
		}
	}
	for i := range t.inputs {
		if in := &t.inputs[i]; len(ours) == 0 && !in.final && !in.commitsTo(other) {
			return false
		}
	}
	return true
}

// commitsTo reports whether a signature of the input commits to the amount of
// another, or of itself: legacy to none, segwit version 0 to its own (BIP-143),
// taproot to all, or with SIGHASH_ANYONECANPAY to its own (BIP-341).
func (in *input) commitsTo(other *input) bool {
	switch in.kind.family() {
	case segwitV0:
		return in == other
	case taprootV1:
		return in == other || in.sighash&sighashAnyoneCanPay == 0
	}
	return false
}

func (t *Transaction) highFee() (chains.Hazard, bool) {
	fee, size := t.Fee(), t.VirtualSize()
	if fee > t.limits.MaxFee {
		return chains.Hazard{Name: HazardHighFee, Detail: fmt.Sprintf(
			"fee of %s, over %s", btc(fee), btc(t.limits.MaxFee))}, true
	}
	if high, low := bits.Mul64(t.limits.MaxFeeRate, size); high == 0 && fee > low {
		return chains.Hazard{Name: HazardHighFee, Detail: fmt.Sprintf(
			"fee of %s for about %d virtual bytes, over %d sat/vB", btc(fee), size, t.limits.MaxFeeRate)}, true
	}
	return chains.Hazard{}, false
}
