package bitcoin

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// The hazards.
const (
	// HazardSighashNone: SIGHASH_NONE. Anyone with the signature decides where the
	// money goes.
	HazardSighashNone = "bitcoin/sighash-none"

	// HazardSighashSingle: SIGHASH_SINGLE. All outputs but one stay open.
	HazardSighashSingle = "bitcoin/sighash-single"

	// HazardSighashAnyoneCanPay: SIGHASH_ANYONECANPAY. Others may add inputs.
	HazardSighashAnyoneCanPay = "bitcoin/sighash-anyonecanpay"

	// HazardUnprovenAmount: an amount is a claim of the PSBT, so that the fee
	// may be higher than it looks.
	HazardUnprovenAmount = "bitcoin/unproven-amount"

	// HazardHighFee: the fee or the fee rate exceeds its limit, or the fee is more than
	// a quarter of all inputs (see MinFeeShare).
	HazardHighFee = "bitcoin/high-fee"

	// HazardNeverRelayed: an output is dust, or the transaction has a version, that no
	// node relays.
	HazardNeverRelayed = "bitcoin/never-relayed"

	// HazardBurn: value for an output that can never be spent.
	HazardBurn = "bitcoin/burn"

	// HazardAnyoneCanSpend: value for an output that is not locked to anyone, or
	// whose script has no known form.
	HazardAnyoneCanSpend = "bitcoin/anyone-can-spend"

	// HazardBlindCall: an output instructs a protocol of tokens that is not
	// decoded, or there are more outputs than are accounted for.
	HazardBlindCall = "bitcoin/blind-call"

	// HazardUnregisteredScript: a key of a registered wallet, or one of which that is not
	// known, signs in a script of several keys that is not the wallet's.
	HazardUnregisteredScript = "bitcoin/unregistered-script"
)

// Hazards implements chains.Transaction: the dangers for any signer. Every input that
// is not final counts as signed.
func (t *transaction) Hazards() []chains.Hazard { return t.hazards(t.openInputs()) }

// Hazards implements chains.Signing: the dangers of the signatures to be made.
func (s *signing) Hazards() []chains.Hazard { return s.tx.hazards(s.inputs()) }

// hazards returns the dangers of signing some of the inputs.
func (t *transaction) hazards(signed []*input) []chains.Hazard {
	if t.message != nil {
		return t.message.Hazards(chains.Party{}, 0) // it moves nothing
	}
	hazards := sighashHazardsOf(signed)
	if hazard, unproven := t.unproven(signed); unproven {
		hazards = append(hazards, hazard)
	}
	if hazard, high := t.highFee(signed); high {
		hazards = append(hazards, hazard)
	}
	if hazard, never := t.neverRelayed(signed); never {
		hazards = append(hazards, hazard)
	}
	return append(hazards, t.outputHazards(signed)...)
}

var sighashHazards = []struct {
	name, means string
	applies     func(sighash byte) bool
}{
	{HazardSighashNone, "signs no outputs: anyone who gets the signature decides where the money goes",
		func(s byte) bool { return s&sighashOutputs == sighashNone }},
	{HazardSighashSingle, "signs one output: the others may be changed",
		func(s byte) bool { return s&sighashOutputs == sighashSingle }},
	{HazardSighashAnyoneCanPay, "signs one input: others may be added or changed",
		func(s byte) bool { return s&sighashAnyoneCanPay != 0 }},
}

func sighashHazardsOf(signed []*input) []chains.Hazard {
	var hazards []chains.Hazard
	for _, kind := range sighashHazards {
		index := slices.IndexFunc(signed, func(in *input) bool { return kind.applies(in.sighash) })
		if index < 0 {
			continue
		}
		detail := fmt.Sprintf("input %d, %s: %s", signed[index].index, sighashName(signed[index].sighash), kind.means)
		hazards = append(hazards, chains.Hazard{Name: kind.name, Detail: detail})
	}
	return hazards
}

// unproven finds an amount that nothing proves and that some signature of this request
// does not commit to. Without this hazard, a signature is valid only if everything that
// the PSBT claims is true.
//
// It is not enough that one of the signatures commits to it, be it BIP-341's, nor that another input
// claims to be the same key's: a signature that commits to less stays valid whatever the PSBT says,
// and two PSBTs that each lie about one input yield together what neither of them
// showed (CVE-2020-14199).
func (t *transaction) unproven(signed []*input) (chains.Hazard, bool) {
	for i := range t.inputs {
		in := &t.inputs[i]
		if in.proven {
			continue
		}
		if free := slices.IndexFunc(signed, func(other *input) bool { return !other.commitsTo(in) }); free >= 0 {
			return chains.Hazard{Name: HazardUnprovenAmount, Detail: fmt.Sprintf(
				"input %d (%s): its amount of %s is claimed by %s alone, and the signature of input %d (%s) is valid whatever it is, "+
					"so that the fee may be higher than it looks: add the transaction that is spent as %s",
				in.index, in.kind, btc(in.amount), fieldWitnessUTXO, signed[free].index, signed[free].kind, fieldNonWitnessUTXO,
			)}, true
		}
	}
	return chains.Hazard{}, false
}

// commitsTo reports whether a signature of the input commits to the amount of another
// input, or of itself: a legacy signature commits to none, segwit version 0 to its own
// (BIP-143), taproot to all, or with SIGHASH_ANYONECANPAY to its own (BIP-341).
func (in *input) commitsTo(other *input) bool {
	switch in.kind.family() {
	case segwitV0:
		return in == other
	case taprootV1:
		return in == other || in.sighash&sighashAnyoneCanPay == 0
	}
	return false
}

// highFee compares the fee with its limits. A share of the inputs is not judged if a lie
// about an amount could change it: then HazardUnprovenAmount says so.
func (t *transaction) highFee(signed []*input) (chains.Hazard, bool) {
	fee, size := t.Fee(), t.VirtualSize()
	high, low := bits.Mul64(t.limits.MaxFeeRate, size)
	detail := ""
	switch {
	case fee > t.limits.MaxFee:
		detail = fmt.Sprintf("fee of %s, over %s", btc(fee), btc(t.limits.MaxFee))
	case high == 0 && fee > low:
		detail = fmt.Sprintf("fee of %s for about %d virtual bytes, over %d sat/vB", btc(fee), size, t.limits.MaxFeeRate)
	case fee >= MinFeeShare && fee > t.totalIn/4:
		if _, unproven := t.unproven(signed); unproven {
			return chains.Hazard{}, false
		}
		detail = fmt.Sprintf("fee of %s, more than a quarter of the %s of all inputs", btc(fee), btc(t.totalIn))
	default:
		return chains.Hazard{}, false
	}
	return chains.Hazard{Name: HazardHighFee, Detail: detail}, true
}
