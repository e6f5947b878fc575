package solana

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// Effects implements chains.Transaction. Parties are accounts: the token
// accounts of a transfer, not their owners, which the bytes do not say. An effect
// is by the signer unless the signature that authorizes it is there already.
func (t *Transaction) Effects() []chains.Effect { return publish(t.resolved(nil)) }

func publish(effects []effect) []chains.Effect {
	list := make([]chains.Effect, len(effects))
	for i, e := range effects {
		list[i] = e.Effect
	}
	return list
}

// resolved returns the effects as they are for the signers of some slots; none
// for those who have not signed yet.
func (t *Transaction) resolved(slots []int) []effect {
	effects := t.effects()
	for i := range effects {
		e := &effects[i]
		if e.By != chains.BySigner || len(e.slots) == 0 || slices.ContainsFunc(e.slots, func(slot int) bool { return t.ours(slot, slots) }) {
			continue
		}
		e.By, e.OtherSigner = chains.ByOther, party(t.key(e.slots[0]))
	}
	return effects
}

// ours reports whether a slot is among those that are signed for now.
func (t *Transaction) ours(slot int, slots []int) bool {
	if slots == nil {
		return !t.filled(slot)
	}
	return slices.Contains(slots, slot)
}

// party is the party at an address.
func party(address []byte) chains.Party { return chains.PartyAt(address, base58Notation) }

var base58Notation = &chains.Notation{Text: encode58}

// effects returns what the transaction does: the fee, and the effects of each
// instruction, at most chains.MaxEffects.
func (t *Transaction) effects() []effect {
	effects := make([]effect, 0, 2+len(t.instructions))
	effects = append(effects, t.feeEffect())
	for i, in := range t.instructions {
		effects = t.read1(in, i, false).all(effects)
	}
	inherit(effects)
	if len(effects) <= chains.MaxEffects {
		return effects
	}
	rest := effect{Effect: chains.Effect{Kind: chains.KindCall, By: chains.BySigner, Undecoded: true, Path: "instructions",
		To: chains.UnknownParty(), Function: "more than " + strconv.Itoa(chains.MaxEffects) + " effects"}}
	return append(effects[:chains.MaxEffects-1], rest)
}

func (t *Transaction) feeEffect() effect {
	return effect{slots: []int{0}, Effect: chains.Effect{
		Kind: chains.KindFee, By: chains.BySigner, From: party(t.key(0)),
		Asset: chains.Native(Name), Amount: chains.AtMost(new(big.Int).SetUint64(t.fee().total())), Path: "fee",
	}}
}

// instructionReading is an instruction that was read, or why it could not be.
type instructionReading struct {
	reading
	id      []byte
	problem error // nil if it is decoded

	// What the slices are in most instructions, to spare allocations.
	fewAccounts [4]account
	fewValues   [3]value
	fewRoles    [4]role
}

// read1 reads one of the transaction's instructions, for a summary with its fields.
func (t *Transaction) read1(in instruction, index int, shown bool) *instructionReading {
	id := t.programID(in)
	r := &instructionReading{id: t.key(t.program(in))}
	r.shown, r.path = shown, "instructions/"+strconv.Itoa(index)
	r.given = t.accountsOf(in, r.fewAccounts[:0])
	r.values, r.roles = r.fewValues[:0], r.fewRoles[:0]
	r.cursor = cursor{raw: t.raw[:in.dataAt+in.size], at: in.dataAt}
	r.problem = r.as(id)
	return r
}

// as reads the instruction as one of a program.
func (r *instructionReading) as(id [keySize]byte) error {
	known := findProgram(id)
	if known == nil {
		return errNotDecoded
	}
	r.program = known
	return r.decode()
}

// all appends the effects of the instruction, or that it is not decoded.
func (r *instructionReading) all(into []effect) []effect {
	if r.problem != nil {
		return append(into, r.undecoded(party(r.id)))
	}
	return r.effects(into)
}

// inherit gives accounts that come into being here to their funder: an
// instruction that then says who controls them gives away what the funder put in.
// Where only rent is paid there is nothing to give away.
func inherit(effects []effect) {
	for i := range effects {
		e := &effects[i]
		if e.owned || e.Kind != chains.KindAuthority && e.Kind != chains.KindStake {
			continue
		}
		for _, earlier := range effects[:i] {
			if earlier.Kind == chains.KindCreate && earlier.Amount.Bound == chains.BoundExact && earlier.To.Equal(e.Account) {
				e.slots, e.owned = earlier.slots, true
				if e.Kind == chains.KindAuthority {
					e.From = earlier.From
				}
			}
		}
	}
}
