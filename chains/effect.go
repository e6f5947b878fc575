package chains

import (
	"math/big"
	"strconv"
	"time"
)

// MaxEffects is the largest number of effects that a transaction yields. What a
// longer one does beyond it is a single KindCall that is not decoded.
const MaxEffects = 512

// MaxCallDepth is the deepest nesting of calls that is decoded: a call at a
// greater depth is a KindCall that is not decoded.
const MaxCallDepth = 8

// Kind is what an effect does. The list is closed.
type Kind string

// The kinds of effects.
const (
	KindTransfer  Kind = "transfer"  // an asset goes from one party to another
	KindApprove   Kind = "approve"   // a party may take an asset later
	KindRevoke    Kind = "revoke"    // a permission is taken back
	KindAuthority Kind = "authority" // control of an account, contract, stake or key goes to a party
	KindStake     Kind = "stake"     // an asset is locked; To can withdraw it
	KindUnstake   Kind = "unstake"   // a locked asset is unlocked
	KindMint      Kind = "mint"      // an asset comes into being
	KindBurn      Kind = "burn"      // an asset is destroyed, unspendable, or spendable by anyone
	KindCreate    Kind = "create"    // a contract or an account comes into being, with its rent or value
	KindFreeze    Kind = "freeze"    // an account is frozen or thawed
	KindSettings  Kind = "settings"  // a change that moves nothing: a nonce, a commission, metadata
	KindFee       Kind = "fee"       // the most that can be paid for inclusion
	KindCall      Kind = "call"      // a program is called whose doing is not accounted for
	KindMessage   Kind = "message"   // a statement is signed
	KindOTP       Kind = "otp"       // a one-time password is sent or redeemed
)

// Kinds returns every kind, in the order of their declaration.
func Kinds() []Kind {
	return []Kind{KindTransfer, KindApprove, KindRevoke, KindAuthority, KindStake, KindUnstake, KindMint, KindBurn,
		KindCreate, KindFreeze, KindSettings, KindFee, KindCall, KindMessage, KindOTP}
}

// By is whose authorization an effect rests on.
type By string

// The authorizations.
const (
	BySigner   By = "signer"   // this signature
	ByOther    By = "other"    // another signature, which stands in the bytes
	ByStanding By = "standing" // a permission that was given earlier, such as an allowance
)

// Effect is one thing that a signature does, as far as the bytes say. Every
// member is a value, none (its zero value), or unknown; an unknown one equals
// nothing and satisfies no bound.
type Effect struct {
	Kind Kind

	// From is the party whose asset or authority it is: SignerParty where the
	// bytes do not name the signer, none for the outputs of a Bitcoin transaction.
	From Party

	// By is the authorization; never empty. OtherSigner is the party that
	// authorizes if By is ByOther.
	By          By
	OtherSigner Party

	// To is the recipient, spender, new authority, called program, or the party
	// that can withdraw a stake.
	To Party

	// Account is what changes hands in a KindAuthority, KindFreeze or KindSettings:
	// the account, contract, mint or stake. None if it is From itself.
	Account Party

	Asset  Asset
	Amount Quantity

	// Until is when a permission or the transaction ends; none is never.
	Until Until

	// Undecoded is set if what happens is not known. Descriptors never change it.
	Undecoded bool

	// Unresolved are the roles ("to", "from", "account") whose addresses the bytes
	// do not contain, such as entries of a Solana lookup table. They are unknown.
	Unresolved []string

	// Function and Args are of a call to a standard that is built in.
	Function string
	Args     []Arg

	// Change is set on a Signing's effects for outputs that go back to the
	// wallet that pays. It is derived from keys, never from the bytes, and is not
	// part of the canonical form.
	Change bool

	// Path is where in the summary's fields the effect comes from, such as
	// "instructions/3" or "calls/0/calls/2".
	Path string
}

// Arg is one argument of a call.
type Arg struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Certainty tells values apart from what is absent and from what is not known.
type Certainty uint8

// The certainties.
const (
	None    Certainty = iota // there is none
	Known                    // the bytes say it
	Unknown                  // there is one, and the bytes do not say it
)

// Notation is how a chain writes addresses. A Party keeps the notation and not the
// text: most effects are only looked at by a decision, and their addresses are
// written when asked for.
type Notation struct {
	// Text returns the canonical text of an address in binary form.
	Text func(address []byte) string

	// Shown returns what a person sees in place of Text, such as the address of a
	// script on one network; empty, or a nil Shown, for Text.
	Shown func(address []byte) string
}

// Party is an address, the signer, none, or unknown. Parties of one notation are
// comparable with ==, but Equal is what a decision needs: unknown equals nothing.
type Party struct {
	certainty Certainty
	signer    bool
	address   string // the chain's binary form
	notation  *Notation
}

// SignerParty is the party that signs, where the bytes do not name it.
func SignerParty() Party { return Party{certainty: Known, signer: true} }

// UnknownParty is a party that the bytes do not contain.
func UnknownParty() Party { return Party{certainty: Unknown} }

// PartyAt is the party at an address. The address is in the chain's binary form
// (20 bytes on Ethereum and Tempo, 21 on Tron, 32 on Solana, the scriptPubKey on
// Bitcoin) and is copied; the notation writes it when asked for.
func PartyAt(address []byte, notation *Notation) Party {
	return Party{certainty: Known, address: string(address), notation: notation}
}

// PartyWritten is PartyAt for an address whose text is at hand. Such parties are not
// comparable with ==.
func PartyWritten(address []byte, text string) Party {
	return PartyAt(address, &Notation{Text: func([]byte) string { return text }})
}

// Shown returns the party for a person: as String, unless its notation shows
// another text.
func (p Party) Shown() string {
	if p.certainty == Known && p.notation != nil && p.notation.Shown != nil {
		if shown := p.notation.Shown([]byte(p.address)); shown != "" {
			return shown
		}
	}
	return p.String()
}

// IsNone reports whether there is no such party.
func (p Party) IsNone() bool { return p.certainty == None }

// IsUnknown reports whether the bytes do not say which party it is.
func (p Party) IsUnknown() bool { return p.certainty == Unknown }

// IsSigner reports whether it is the party that signs, without an address.
func (p Party) IsSigner() bool { return p.signer }

// Address returns a copy of the address in the chain's binary form, nil if the
// party has none.
func (p Party) Address() []byte {
	if p.address == "" {
		return nil
	}
	return []byte(p.address)
}

// Equal reports whether both are known and the same party. The text is not
// compared.
func (p Party) Equal(other Party) bool {
	return p.certainty == Known && other.certainty == Known && p.signer == other.signer && p.address == other.address
}

// Is reports whether the party is at an address, given in binary form.
func (p Party) Is(address []byte) bool {
	return p.certainty == Known && !p.signer && p.address == string(address)
}

// String returns the address for a person, "signer", "unknown", or "".
func (p Party) String() string {
	switch {
	case p.certainty == Unknown:
		return "unknown"
	case p.signer:
		return "signer"
	case p.notation != nil:
		return p.notation.Text([]byte(p.address))
	}
	return ""
}

// Asset is what an amount is of: none, unknown, or a token of a chain.
type Asset struct {
	// Chain is the CAIP-2 id of the chain, such as "eip155:1", or its namespace
	// ("solana", "tron", "bip122") where the bytes name no network. Empty: none.
	Chain string

	// Token is the contract or mint, none for the native asset, unknown where
	// the bytes do not say which token it is.
	Token Party

	// TokenID is the id of a token without an address (TRC-10), empty otherwise.
	TokenID string

	// NFT is the id of one token of a collection; nil if there is none.
	NFT *big.Int

	// Standard is the token standard, such as "erc20", "erc721",
	// "erc20-or-721", "spl-token", "trc10"; empty for the native asset.
	Standard string
}

// Native is the native asset of a chain.
func Native(chain string) Asset { return Asset{Chain: chain} }

// Token is the token at a contract or mint.
func Token(chain string, token Party, standard string) Asset {
	return Asset{Chain: chain, Token: token, Standard: standard}
}

// UnknownAsset is an asset of a chain that the bytes do not name.
func UnknownAsset(chain string) Asset { return Asset{Chain: chain, Token: UnknownParty()} }

// IsNone reports whether there is no asset.
func (a Asset) IsNone() bool { return a.Chain == "" }

// IsUnknown reports whether the bytes do not say which asset it is.
func (a Asset) IsUnknown() bool { return a.Chain != "" && a.Token.IsUnknown() }

// IsNative reports whether it is the chain's native asset.
func (a Asset) IsNative() bool { return a.Chain != "" && a.Token.IsNone() && a.TokenID == "" }

// Equal reports whether both are known and the same asset of the same chain.
// An NFT is another asset than its collection. The standard is not compared.
func (a Asset) Equal(other Asset) bool {
	if a.IsNone() || other.IsNone() || a.IsUnknown() || other.IsUnknown() {
		return false
	}
	sameToken := a.Token.IsNone() && other.Token.IsNone() || a.Token.Equal(other.Token)
	sameNFT := a.NFT == nil && other.NFT == nil || a.NFT != nil && other.NFT != nil && a.NFT.Cmp(other.NFT) == 0
	return a.Chain == other.Chain && sameToken && a.TokenID == other.TokenID && sameNFT
}

// token returns the token as the canonical form has it.
func (a Asset) token() string {
	switch {
	case a.IsNative():
		return "native"
	case a.TokenID != "":
		return a.TokenID
	}
	return a.Token.String()
}

// Bound is what an amount says of what leaves From.
type Bound string

// The bounds.
const (
	BoundExact     Bound = "exact"
	BoundMost      Bound = "most"      // at most the value
	BoundLeast     Bound = "least"     // at least the value
	BoundAll       Bound = "all"       // the whole balance, whose size the bytes do not say
	BoundAdded     Bound = "added"     // added to what there is: increaseAllowance, fees on top
	BoundUnlimited Bound = "unlimited" // of approvals: without an end
)

// Quantity is how much leaves From, in the asset's smallest unit: none (its zero
// value), unknown, or a value with a bound.
type Quantity struct {
	Bound Bound // empty if there is no amount

	// Value is nil if there is no amount, if it is unknown, and with BoundAll. It
	// must not be changed.
	Value *big.Int
}

// Exactly is a quantity of a value, no more and no less.
func Exactly(value *big.Int) Quantity { return Quantity{Bound: BoundExact, Value: value} }

// ExactlyUint is Exactly for 64 bits.
func ExactlyUint(value uint64) Quantity { return Exactly(new(big.Int).SetUint64(value)) }

// AtMost is a quantity of up to a value.
func AtMost(value *big.Int) Quantity { return Quantity{Bound: BoundMost, Value: value} }

// AtLeast is a quantity of a value or more.
func AtLeast(value *big.Int) Quantity { return Quantity{Bound: BoundLeast, Value: value} }

// All is a whole balance.
func All() Quantity { return Quantity{Bound: BoundAll} }

// Unlimited is an approval without an end. Value is what the bytes say, nil if
// they say none.
func Unlimited(value *big.Int) Quantity { return Quantity{Bound: BoundUnlimited, Value: value} }

// UnknownQuantity is an amount that the bytes do not say.
func UnknownQuantity() Quantity { return Quantity{Bound: BoundExact} }

// IsNone reports whether there is no amount.
func (q Quantity) IsNone() bool { return q.Bound == "" }

// IsUnknown reports whether no value bounds the amount from above.
func (q Quantity) IsUnknown() bool {
	return q.Bound == BoundAll || q.Bound == BoundLeast || q.Bound == BoundUnlimited || q.Bound != "" && q.Value == nil
}

// Until is when something ends: never (its zero value), a time, a height, or
// what the chain says instead.
type Until struct {
	Time   time.Time // zero if the end is no time
	Height uint64    // block or slot height; 0 if the end is no height
	Text   string    // such as "blockhash": about 150 blocks after it, on Solana
}

// IsNone reports whether there is no end.
func (u Until) IsNone() bool { return u == Until{} }

// String returns the canonical form: RFC 3339, "height N", or the text.
func (u Until) String() string {
	switch {
	case !u.Time.IsZero():
		return u.Time.UTC().Format(time.RFC3339)
	case u.Height != 0:
		return "height " + strconv.FormatUint(u.Height, 10)
	}
	return u.Text
}

// ResolveSigner puts the signer's address in place of SignerParty in effects,
// which it changes and returns.
func ResolveSigner(effects []Effect, signer Party) []Effect {
	for i := range effects {
		effect := &effects[i]
		for _, party := range [...]*Party{&effect.From, &effect.OtherSigner, &effect.To, &effect.Account} {
			if party.IsSigner() {
				*party = signer
			}
		}
	}
	return effects
}
