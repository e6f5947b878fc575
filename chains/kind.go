package chains

import "strings"

// Kind is the kind of an effect. The list is closed.
type Kind string

// The kinds of effects.
const (
	KindTransfer  Kind = "transfer"  // an asset goes from one party to another
	KindReceive   Kind = "receive"   // what the account whose assets leave gets back, at least
	KindApprove   Kind = "approve"   // a party may take an asset later
	KindRevoke    Kind = "revoke"    // a permission is taken back
	KindAuthority Kind = "authority" // control of an account, contract, stake or key goes to a party
	KindStake     Kind = "stake"     // an asset is locked; To can withdraw it
	KindUnstake   Kind = "unstake"   // a locked asset is unlocked, for its owner
	KindMint      Kind = "mint"      // an asset comes into being
	KindBurn      Kind = "burn"      // an asset is destroyed, unspendable, or spendable by anyone
	KindCreate    Kind = "create"    // a contract or an account comes into being, with its rent or value
	KindFreeze    Kind = "freeze"    // an account is frozen or thawed
	KindSettings  Kind = "settings"  // a change that moves nothing: a nonce, a commission, metadata
	KindFee       Kind = "fee"       // the most that can be paid for inclusion
	KindCall      Kind = "call"      // a program is called, and what it does is not accounted for
	KindMessage   Kind = "message"   // a statement is signed
	KindOTP       Kind = "otp"       // a one-time password is sent or redeemed
)

// kindRow is what holds for all effects of a kind.
type kindRow struct {
	kind Kind

	// spends: the amount leaves From, or can from now on: limits and totals count it.
	spends bool

	// hands: the asset goes to To, and is lost if no one controls that address. If the kind does
	// not spend, To belongs to the owner; what another party gets is a KindTransfer.
	hands bool

	// free: the effect needs no rule of a policy, and no rule can allow it. It only says
	// what the account gets in return for other effects.
	free bool

	// sentence describes an effect of the kind.
	sentence func(sentence) string
}

// kinds is the table of kinds, in the order of declaration. Nothing else lists kinds by
// what holds for them.
var kinds = []kindRow{
	{kind: KindTransfer, spends: true, hands: true, sentence: sentence.transfer},
	{kind: KindReceive, hands: true, free: true, sentence: sentence.receive},
	{kind: KindApprove, spends: true, sentence: func(s sentence) string {
		return "allow " + s.party(s.To) + " to take " + s.amount() + s.fromOther()
	}},
	{kind: KindRevoke, sentence: sentence.revoke},
	{kind: KindAuthority, sentence: sentence.authority},
	{kind: KindStake, spends: true, sentence: func(s sentence) string {
		return "stake " + s.amount() + s.held() + s.toParty(", withdrawable by ")
	}},
	{kind: KindUnstake, hands: true, sentence: func(s sentence) string {
		return "unstake " + s.amount() + s.held() + s.toParty(" to ")
	}},
	{kind: KindMint, hands: true,
		sentence: func(s sentence) string { return "mint " + s.amount() + s.toParty(" to ") }},
	{kind: KindBurn, spends: true, sentence: sentence.burn},
	{kind: KindCreate, spends: true, sentence: sentence.create},
	{kind: KindFreeze, sentence: func(s sentence) string { return "freeze or thaw " + s.account() }},
	{kind: KindSettings, sentence: func(s sentence) string {
		text := strings.TrimSpace("change settings of " + s.account())
		if !s.Amount.IsNone() {
			text += " over " + s.amount()
		}
		return text + s.toParty(" for ")
	}},
	{kind: KindFee, spends: true, sentence: sentence.fee},
	{kind: KindCall, sentence: sentence.call},
	{kind: KindMessage, sentence: sentence.message},
	{kind: KindOTP, sentence: func(s sentence) string { return "one-time password for " + s.party(s.To) }},
}

// Kinds returns every kind, in the order of declaration.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i := range kinds {
		all[i] = kinds[i].kind
	}
	return all
}

func (k Kind) row() kindRow {
	for i := range kinds {
		if kinds[i].kind == k {
			return kinds[i]
		}
	}
	return kindRow{}
}

// Spends reports whether effects of the kind spend their amount: limits and totals count it.
func (k Kind) Spends() bool { return k.row().spends }

// Hands reports whether effects of the kind hand their asset to the recipient.
func (k Kind) Hands() bool { return k.row().hands }

// NeedsCover reports whether a policy must allow effects of the kind that are by our
// authorization. What is received needs no rule, and a request of it alone is not allowed.
func (k Kind) NeedsCover() bool { return !k.row().free }
