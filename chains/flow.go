package chains

import (
	"math/big"
	"slices"
)

// MaxPassages is the largest number of passages whose money is followed.
const MaxPassages = 64

// Unfollowed is the Function of the KindCall that stands for money of ours that Follow cannot
// follow.
const Unfollowed = "money that passes in a circle, or through more than 64 accounts"

// Follow returns effects, which must be in the order of execution, with what follows from them
// together. The list itself is not changed. What Follow adds is no part of the canonical form.
//
// A passage (see Effect.Passage) is no recipient: what leaves it by another signature, up to what
// our signature put in, is one more effect by our signature, at the end of the list. If several
// have put money in, ours leaves first. What goes home to the account that paid is none. Any
// other account is a holder, whose money is its own: what it pays on is Reached.
//
// A call of another signature that is not decoded may take what is in passages: it is one more
// call by our signature, unless we have only paid for accounts of at most some cost.
//
// The path of an added effect is that of the one that moves the money; moved has the index of
// that one for each. If money goes in a circle between passages, or through more than
// MaxPassages, one KindCall that is not decoded stands for all of it.
func Follow(effects []Effect) (list []Effect, moved []int) {
	passes := MovedByOthers(effects)
	for i := range effects {
		passes = passes || effects[i].Passage
	}
	if !passes {
		return effects, nil
	}
	f := &flow{list: slices.Clone(effects)}
	for i := range effects {
		if f.step(i); f.lost != nil {
			return append(slices.Clone(effects), *f.lost), []int{i}
		}
	}
	return f.list, f.moved
}

// MovedByOthers reports whether another signature moves an asset, may do so, or lets someone take
// it: without, Follow adds nothing.
func MovedByOthers(effects []Effect) bool {
	for i := range effects {
		if e := &effects[i]; e.By == ByOther && (e.Kind == KindApprove || e.Undecoded || e.moves()) {
			return true
		}
	}
	return false
}

// moves reports whether the effect brings an asset from From to To, and not merely locks it.
func (e *Effect) moves() bool {
	switch e.Kind {
	case KindTransfer, KindCreate, KindMint, KindUnstake:
		return !e.From.IsNone() && !e.To.IsNone() && !e.source().Equal(e.To)
	case KindStake:
		return !e.From.IsNone() && !e.To.IsNone() && e.Account.IsNone() && !e.From.Equal(e.To)
	case KindBurn:
		return !e.From.IsNone() && !e.From.Equal(e.To)
	}
	return false
}

// source is the account that holds what the effect moves.
func (e *Effect) source() Party {
	if (e.Kind == KindTransfer || e.Kind == KindUnstake) && !e.Account.IsNone() {
		return e.Account
	}
	return e.From
}

// Counted returns the part of Amount that limits count for this effect: not what Onward counts.
func (e *Effect) Counted() Quantity {
	if e.Onward == nil {
		return e.Amount
	}
	return Quantity{Bound: e.Amount.Bound, Value: new(big.Int).Sub(e.Amount.Value, e.Onward)}
}

// flow follows money through the effects of a request.
type flow struct {
	list     []Effect
	moved    []int
	ours     []*purse
	reached  []*purse // what came through holders, which leaves after ours
	passages int
	lost     *Effect // the call that stands for what cannot be followed
}

// purse is the money of ours that an account has, in one asset.
type purse struct {
	account Party // unknown: all accounts that the bytes do not contain
	asset   Asset
	payload string
	amount  *big.Int // at most; nil: without a bound
	passage bool
	rich    bool    // it is more than the cost of accounts, which their owners get back
	reached bool    // it came through a holder
	payer   Party   // whose money it was
	through []Party // the passages that it came through, one after the other
	counted []int   // the effects for which limits count it
}

func (f *flow) step(i int) {
	e := &f.list[i]
	if e.Undecoded && e.By == ByOther && slices.ContainsFunc(f.ours, func(p *purse) bool {
		return p.passage && p.rich && !p.isEmpty() && p.payload == e.Payload()
	}) {
		call := *e
		call.By, call.OtherSigner, call.Passed = BySigner, Party{}, true
		f.list, f.moved = append(f.list, call), append(f.moved, i)
		return
	}
	if !e.moves() {
		e.Reached = e.Kind == KindApprove && e.By == ByOther &&
			slices.ContainsFunc(slices.Concat(f.ours, f.reached), func(p *purse) bool { return p.paysFor(e) })
		return
	}
	e.Reached = e.By == ByOther && slices.ContainsFunc(f.list[:i], func(given Effect) bool { // by our permission
		return given.Kind == KindApprove && given.By == BySigner && given.From.Equal(e.source()) &&
			given.To.Equal(e.OtherSigner)
	})
	rest := e.Amount
	for _, p := range slices.Concat(f.ours, f.reached) {
		if most := rest.most(); most != nil && most.Sign() == 0 {
			break
		}
		if !p.paysFor(&f.list[i]) {
			continue
		}
		same := p.asset.certainly(f.list[i].Asset)
		part := p.take(&rest, same && p.asset.Chain == atomic && f.list[i].By != ByStanding)
		switch {
		case f.list[i].By != ByOther:
			if same && !f.list[i].Change {
				f.onward(p, part)
			}
		case p.passage && !p.reached:
			f.leave(i, p, part)
		default:
			f.list[i].Reached = true
			f.put(i, purse{amount: part.most(), reached: true})
		}
	}
	if e = &f.list[i]; e.By != ByOther && !e.Change {
		f.put(i, purse{amount: e.Amount.most(), payer: e.From, counted: []int{i}})
	}
}

// leave adds what leaves a passage by an effect of another signature.
func (f *flow) leave(i int, p *purse, part Quantity) {
	derived := f.list[i]
	if derived.To.Equal(p.payer) && !derived.Passage {
		return // home
	}
	through := append(slices.Clone(p.through), p.account)
	if f.passages > MaxPassages || slices.ContainsFunc(through, derived.To.Equal) {
		f.lost = &Effect{Kind: KindCall, By: BySigner, From: p.payer, To: p.account, Undecoded: true,
			Function: Unfollowed, Path: derived.Path + "/passages"}
		return
	}
	if derived.Kind == KindStake || derived.Kind == KindUnstake {
		derived.Kind = KindTransfer
	}
	if derived.Asset.IsUnknown() {
		derived.Asset = p.asset
	}
	derived.By, derived.OtherSigner, derived.Amount, derived.Passed = BySigner, Party{}, part, true
	f.list, f.moved = append(f.list, derived), append(f.moved, i)
	f.onward(p, part)
	f.put(i, purse{amount: part.most(), payer: p.payer, through: through, counted: []int{len(f.list) - 1}})
}

// put adds money to what the recipient of an effect has.
func (f *flow) put(i int, money purse) {
	e := &f.list[i]
	hidden := e.To.IsUnknown() && slices.Contains(e.Unresolved, "to")
	if e.To.Address() == nil && !hidden {
		return
	}
	money.account, money.asset, money.payload, money.passage = e.To, e.Asset, e.Payload(), e.Passage || hidden
	money.rich = e.Kind != KindCreate || e.Amount.Bound != BoundMost
	purses := &f.ours
	if money.reached {
		purses = &f.reached
	}
	for _, p := range *purses {
		if p.holds(&money) {
			if p.amount != nil && money.amount != nil {
				p.amount = new(big.Int).Add(p.amount, money.amount)
			} else {
				p.amount = nil
			}
			p.rich = p.rich || money.rich
			p.through, p.counted = append(p.through, money.through...), append(p.counted, money.counted...)
			return
		}
	}
	if money.passage {
		f.passages++
	}
	*purses = append(*purses, &money)
}

// holds reports whether money belongs into the purse.
func (p *purse) holds(money *purse) bool {
	sameAccount := p.account.Equal(money.account) || p.account.IsUnknown() && money.account.IsUnknown()
	return sameAccount && p.asset.Equal(money.asset) && p.payload == money.payload && p.passage == money.passage &&
		(p.reached || p.payer.Equal(money.payer))
}

// onward marks the effects that count a purse: another one counts a part of it.
func (f *flow) onward(p *purse, part Quantity) {
	left := part.most()
	for _, i := range p.counted {
		e := &f.list[i]
		if left == nil || e.Amount.most() == nil {
			return
		}
		here := e.Counted().Value
		if left.Cmp(here) < 0 {
			here = left
		}
		left = new(big.Int).Sub(left, here)
		if e.Onward != nil {
			here = new(big.Int).Add(e.Onward, here)
		}
		e.Onward = here
	}
}

// most returns the most that the quantity can be, nil if nothing bounds it.
func (q Quantity) most() *big.Int {
	if q.IsUnknown() {
		return nil
	}
	return q.Value
}

func (p *purse) isEmpty() bool { return p.amount != nil && p.amount.Sign() == 0 }

// paysFor reports whether an effect can take from the purse.
func (p *purse) paysFor(e *Effect) bool {
	if p.isEmpty() || p.payload != e.Payload() {
		return false
	}
	hidden := slices.Contains(e.Unresolved, "from") || slices.Contains(e.Unresolved, "account")
	in, out := p.asset, e.Asset
	// What comes in as one asset can leave as the same one, as one that is not known, or, of SOL and
	// wrapped SOL, which an account holds as its lamports, as the other.
	return (p.account.Equal(e.source()) || p.account.IsUnknown() && hidden) && in.Chain == out.Chain && !in.IsNone() &&
		(in.certainly(out) || in.IsUnknown() || out.IsUnknown())
}

// atomic is the chain on which every effect of a request happens, or none. On others a call can
// fail while the rest stands: what it moves stays where it is.
const atomic = "solana"

// take takes an amount out of the purse, and leaves the rest of the amount for others. It returns
// what is taken: all that is there if the amount is not known. What may be less than its bound
// stays, and everything if it is not sure that it happens, and in the same asset.
func (p *purse) take(amount *Quantity, sure bool) Quantity {
	if !sure {
		copied, rest := *p, *amount
		return copied.take(&rest, true)
	}
	most := amount.most()
	switch {
	case p.amount == nil:
		return *amount
	case amount.Bound == BoundAll:
		all := AtMost(p.amount)
		p.amount = new(big.Int)
		return all
	case most == nil:
		return AtMost(p.amount)
	}
	part := Quantity{Bound: amount.Bound, Value: most}
	if most.Cmp(p.amount) > 0 {
		part.Value = p.amount
	}
	if amount.Bound == BoundExact {
		p.amount = new(big.Int).Sub(p.amount, part.Value)
		amount.Value = new(big.Int).Sub(most, part.Value)
	}
	return part
}

// certainly reports whether both are known and the same money, as SOL and wrapped SOL are.
func (a Asset) certainly(other Asset) bool { return a.Equal(other) || a.isSOL() && other.isSOL() }

// wrappedSOL are the mints of wrapped SOL, of both token programs.
var wrappedSOL = []string{"So11111111111111111111111111111111111111112", "9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9"}

func (a Asset) isSOL() bool {
	return a.Chain == atomic && (a.IsNative() || slices.Contains(wrappedSOL, a.Token.String()))
}
