package bitcoin

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// Hazards implements chains.Transaction: the dangers for any signer. Every input that
// is not final counts as signed.
func (t *transaction) Hazards() []chains.Hazard { return t.plan().hazards() }

func (p *plan) hazards() []chains.Hazard {
	if p.tx.message != nil {
		return p.tx.message.Hazards(chains.Party{}, 0) // it moves nothing
	}
	var hazards []chains.Hazard
	for _, kind := range sighashHazards {
		if at := slices.IndexFunc(p.signed, func(in *input) bool { return kind.applies(in.sighash) }); at >= 0 {
			detail := fmt.Sprintf("input %d, %s: %s", p.signed[at].index, sighashName(p.signed[at].sighash), kind.means)
			hazards = append(hazards, chains.Hazard{Name: kind.name, Detail: detail})
		}
	}
	for _, found := range []*chains.Hazard{p.unproven, p.highFee(), p.neverRelayed()} {
		if found != nil {
			hazards = append(hazards, *found)
		}
	}
	return append(hazards, p.outputHazards()...)
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

// highFee compares the fee with its limits. A share of the inputs is not judged if a lie
// about an amount could change it: then HazardUnprovenAmount says so.
func (p *plan) highFee() *chains.Hazard {
	t := p.tx
	fee, size := t.Fee(), t.VirtualSize()
	high, low := bits.Mul64(t.limits.MaxFeeRate, size)
	detail := ""
	switch {
	case fee > t.limits.MaxFee:
		detail = fmt.Sprintf("fee of %s, over %s", btc(fee), btc(t.limits.MaxFee))
	case high == 0 && fee > low:
		detail = fmt.Sprintf("fee of %s for about %d virtual bytes, over %d sat/vB", btc(fee), size,
			t.limits.MaxFeeRate)
	case fee >= MinFeeShare && fee > t.totalIn/4 && p.unproven == nil:
		detail = fmt.Sprintf("fee of %s, more than a quarter of the %s of all inputs", btc(fee), btc(t.totalIn))
	default:
		return nil
	}
	return &chains.Hazard{Name: HazardHighFee, Detail: detail}
}

// outputHazards returns the hazards of value for outputs that no one or anyone can
// spend, which Bitcoin Core refuses to send by default (maxburnamount), and of what
// is not decoded. They point at the effects.
func (p *plan) outputHazards() []chains.Hazard {
	var hazards []chains.Hazard
	for effect, o := range p.outcomes {
		value := p.tx.packet.Outputs[o.output].Amount
		var name, detail string
		switch o.fate {
		case burned:
			name, detail = HazardBurn, btc(value)+" cannot be spent: "+o.why
		case upForGrabs:
			name, detail = HazardAnyoneCanSpend, btc(value)+" is not locked to anyone: "+o.why
		case instructs:
			name, detail = HazardBlindCall, "it instructs "+o.why+": which tokens it moves is not known"
		case unaccounted:
			name = HazardBlindCall
			detail = fmt.Sprintf("this output and those behind it are more than the %d that are accounted for",
				chains.MaxEffects)
		default:
			continue
		}
		hazards = append(hazards, chains.Hazard{Name: name, Detail: o.path() + ": " + detail}.OnEffect(effect))
	}
	return hazards
}
