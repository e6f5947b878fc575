package chains

// Kind is the kind of an effect. The list is closed.
type Kind string

// The kinds of effects.
const (
	KindTransfer  Kind = "transfer"  // an asset goes from one party to another
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

	// hands: the asset goes to To, so that it is lost if To is an address that no one
	// controls. A kind that hands over without spending is for the owner's own To:
	// what another party gets is a KindTransfer.
	hands bool
}

// kinds is the table of kinds, in the order of declaration. Nothing else lists kinds by
// what holds for them.
var kinds = []kindRow{
	{kind: KindTransfer, spends: true, hands: true},
	{kind: KindApprove, spends: true},
	{kind: KindRevoke},
	{kind: KindAuthority},
	{kind: KindStake, spends: true},
	{kind: KindUnstake, hands: true},
	{kind: KindMint, hands: true},
	{kind: KindBurn, spends: true},
	{kind: KindCreate, spends: true},
	{kind: KindFreeze},
	{kind: KindSettings},
	{kind: KindFee, spends: true},
	{kind: KindCall},
	{kind: KindMessage},
	{kind: KindOTP},
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

// Spends reports whether effects of the kind spend their amount: limits and totals count
// it.
func (k Kind) Spends() bool { return k.row().spends }

// Hands reports whether effects of the kind hand their asset to the recipient.
func (k Kind) Hands() bool { return k.row().hands }
