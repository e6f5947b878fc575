package evm

import (
	"fmt"
	"math"
	"strings"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

// The hazards of effects, without the chain's name and a slash in front.
const (
	BlindCall         = "blind-call"         // a call that is not decoded
	AuthorityChange   = "authority-change"   // control goes to a party other than the signer
	UnlimitedApproval = "unlimited-approval" // an operator, or an allowance of 2^96 and more
	hazardBurn        = "burn"               // an asset is destroyed, or anyone can take it
	hazardRefund      = "refund"             // a Safe pays for the gas of its transaction
)

// hazardHighFee is the hazard of fees, of the chains whose fees FeeHazards judges. hazardNoMinimum is that
// of swaps, of the chains where routers are known: one may give nothing for what it takes.
const (
	hazardHighFee   = "high-fee"
	hazardNoMinimum = "no-minimum"
)

// HazardNames returns the names of all of them on a chain.
func HazardNames(chain string) []string {
	return []string{chain + "/" + BlindCall, chain + "/" + AuthorityChange, chain + "/" + UnlimitedApproval,
		chain + "/" + hazardBurn, chain + "/" + hazardRefund}
}

// HazardList collects hazards.
type HazardList []chains.Hazard

// Add adds a hazard of the transaction as a whole.
func (l *HazardList) Add(name, format string, args ...any) {
	*l = append(*l, chains.Hazard{Name: name, Detail: fmt.Sprintf(format, args...)})
}

// AddOn adds a hazard that points at the effect with an index.
func (l *HazardList) AddOn(effect int, name, format string, args ...any) {
	*l = append(*l, chains.Hazard{Name: name, Detail: fmt.Sprintf(format, args...)}.OnEffect(effect))
}

// Hazards returns the dangers of effects that the signer authorizes, now or by an
// earlier permission. If the signer is none, it returns the dangers that depend on no
// key. Effects by another signature are dangers only if that signature is the signer's, or if
// they pass on what the signer put into a shared contract: see chains.Follow.
func Hazards(chain string, effects []chains.Effect, signer chains.Party) []chains.Hazard {
	var h HazardList
	followed := effects
	if chains.MovedByOthers(effects) {
		followed, _ = chains.Follow(effects)
	}
	for i := range followed {
		effect := &followed[i]
		if effect.By == chains.ByOther && !effect.OtherSigner.Equal(signer) {
			continue
		}
		if name, detail := danger(effect, signer); name != "" {
			h.AddOn(i, chain+"/"+name, "%s", detail)
		}
		if strings.HasSuffix(effect.Path, refundPath) {
			h.AddOn(i, chain+"/"+hazardRefund, "%s pays for gas at a price in the signed bytes: %s", effect.From,
				chains.Sentence(*effect, nil))
		}
	}
	for _, i := range unbounded(effects) {
		if e := &effects[i-1]; e.By != chains.ByOther || e.OtherSigner.Equal(signer) { // what the swap takes
			h.AddOn(i, chain+"/"+hazardNoMinimum,
				"the swap may give nothing: neither it nor what follows has a minimum of %s",
				chains.AssetText(effects[i].Asset))
		}
	}
	return h
}

// danger returns the hazard of an effect, empty if it has none.
func danger(effect *chains.Effect, signer chains.Party) (name, detail string) {
	switch {
	case effect.Undecoded && effect.Kind == chains.KindMessage:
		return BlindCall, fmt.Sprintf("what a signature over %q lets others do is not known", effect.Function)
	case effect.Undecoded:
		return BlindCall, fmt.Sprintf("%s calls %s%s: what that does is not known, and it may do anything that the "+
			"caller may", effect.From, effect.To, ofFunction(effect))
	// The spender makes any call for any caller.
	case effect.Kind == chains.KindApprove && isOneOf(effect.To, openPlaces):
		return hazardBurn, fmt.Sprintf("anyone can take through %s what it may take from %s", effect.To, effect.From)
	case effect.Kind == chains.KindApprove && effect.Amount.Bound == chains.BoundUnlimited:
		return UnlimitedApproval, fmt.Sprintf("%s may take all of the token %s that %s has, now and later", effect.To,
			effect.Asset.Token, effect.From)
	case effect.Kind == chains.KindTransfer && openEnded(effect):
		return UnlimitedApproval, fmt.Sprintf("others decide how much of the token %s is taken from %s, up to all "+
			"that it has", effect.Asset.Token, effect.From)
	case effect.Kind == chains.KindBurn && effect.To.Equal(effect.From):
		return hazardBurn, fmt.Sprintf("what is left at %s can be taken by anyone", effect.To)
	case effect.Kind == chains.KindBurn && !effect.To.IsNone():
		return hazardBurn, fmt.Sprintf("what goes to %s is lost", effect.To)
	case !signer.IsNone() && effect.Asset.Token.Equal(signer): // asked by a message: see Call.ofOwn
		return BlindCall, fmt.Sprintf("%s is an account and no token: what runs there is not known", signer)
	// Votes and stakes stay whose they are.
	case effect.To.Equal(effect.From) && !effect.Asset.IsNone() && !IsShared(effect.To):
		return "", ""
	case signer.IsNone() && (effect.Kind != chains.KindAuthority || !controlled(effect).IsSigner()):
		return "", ""
	case effect.Kind == chains.KindAuthority && !effect.To.Equal(signer) && !effect.Asset.IsNone():
		return AuthorityChange, fmt.Sprintf("%s gets the votes of the token %s that %s has", effect.To,
			effect.Asset.Token, effect.From)
	case effect.Kind == chains.KindAuthority && !effect.To.Equal(signer):
		return AuthorityChange, fmt.Sprintf("%s gets control of %s", effect.To, controlled(effect))
	case effect.Kind == chains.KindStake && !effect.To.Equal(signer):
		return AuthorityChange, fmt.Sprintf("%s, not the signer, can withdraw what is staked", effect.To)
	}
	return "", ""
}

// openEnded reports whether a transfer amounts to an allowance: others than the signer decide
// how much it takes, and its maximum is practically unlimited. A refund has a hazard of its own:
// it only counts here if its maximum has unlimitedBits or more.
func openEnded(effect *chains.Effect) bool {
	return effect.Amount.Bound == chains.BoundMost && effect.Amount.Value != nil &&
		isUnlimited(effect.Asset, effect.Amount.Value) &&
		(effect.Amount.Value.BitLen() >= unlimitedBits || !strings.HasSuffix(effect.Path, refundPath))
}

func ofFunction(effect *chains.Effect) string {
	if effect.Function == "" {
		return ""
	}
	if !effect.Account.IsNone() { // of a call, the delegate of the called account
		return " (function " + effect.Function + ", run by the code of " + effect.Account.String() + ")"
	}
	return " (function " + effect.Function + ")"
}

func controlled(effect *chains.Effect) chains.Party {
	if effect.Account.IsNone() {
		return effect.From
	}
	return effect.Account
}

// Attos returns a configured amount of whole units in units of 10⁻¹⁸, as exactly as a
// float64 has it, rounded down. It returns 0 for NaN and for amounts that are not
// positive, and the largest number for amounts that do not fit into 255 bits.
func Attos(whole float64) (units uint256.Int) {
	amount := whole * 1e18
	switch fraction, exponent := math.Frexp(amount); {
	case !(amount > 0): // nor NaN
	case amount >= 1<<255:
		units.SetAllOne()
	case exponent < 53:
		units.SetUint64(uint64(amount))
	default:
		units.SetUint64(uint64(fraction * (1 << 53)))
		units.Lsh(&units, uint(exponent-53))
	}
	return units
}

// Cut returns at most most effects of a transaction. If it drops some, the last one
// stands for all of them, and is not decoded.
func Cut(effects []chains.Effect, most int) []chains.Effect {
	if len(effects) <= most {
		return effects
	}
	effects = effects[:most]
	effects[most-1] = chains.Effect{Kind: chains.KindCall, From: chains.SignerParty(), By: chains.BySigner,
		To: chains.UnknownParty(), Undecoded: true}
	return effects
}

// ending appends effects that Cut must not drop. If it has to cut the others, the effect
// that stands for those comes last.
func ending(effects, last []chains.Effect) []chains.Effect {
	if len(effects)+len(last) <= chains.MaxEffects {
		return append(effects, last...)
	}
	effects = Cut(effects, chains.MaxEffects-len(last))
	rest := effects[len(effects)-1]
	return append(append(effects[:len(effects)-1], last...), rest)
}
