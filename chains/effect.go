package chains

import (
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// MaxEffects is the largest number of effects of a transaction. Everything beyond it is
// a single KindCall that is not decoded.
const MaxEffects = 512

// MaxCallDepth is the deepest nesting of calls that is decoded. A deeper call is a
// KindCall that is not decoded.
const MaxCallDepth = 8

// By is the authorization that an effect rests on.
type By string

// The authorizations.
const (
	BySigner   By = "signer"   // this signature
	ByOther    By = "other"    // another signature, which the bytes contain
	ByStanding By = "standing" // a permission given earlier, such as an allowance
)

// Effect is one thing that a signature does, as far as the bytes say. Every member is a
// value, none (its zero value), or unknown. An unknown member equals nothing and
// satisfies no bound.
type Effect struct {
	Kind Kind

	// From is the party whose asset or authority is affected: SignerParty where the
	// bytes do not name the signer, none for the outputs of a Bitcoin transaction.
	From Party

	// By is the authorization and never empty. OtherSigner is the authorizing party if
	// By is ByOther.
	By          By
	OtherSigner Party

	// To is the recipient, spender, new authority, called program, or the party
	// that can withdraw a stake.
	To Party

	// Account is the account, contract, mint or stake that a KindAuthority, KindFreeze or
	// KindSettings concerns, that holds what a KindUnstake or KindTransfer takes out of it,
	// or whose operation a paymaster's KindFee is for. None if it is From itself. Of a
	// KindCall, it is the delegate whose code To runs.
	Account Party

	Asset  Asset
	Amount Quantity

	// Until is when a permission or the transaction expires; none means never.
	Until Until

	// Undecoded is set if it is not known what happens. Descriptors never change it.
	Undecoded bool

	// Unresolved lists what is unknown because the bytes do not contain its address, such as
	// an entry of a Solana lookup table: members ("to", "from", "account", "asset"), and the
	// names of other accounts of the instruction, such as "vote account".
	Unresolved []string

	// Function and Args belong to a call of a built-in standard. Those of a KindSettings say
	// what is set to what.
	Function string
	Args     []Arg

	// Change is set if what leaves an account of ours comes back to it: a transfer from the
	// account to itself, or an output of a Bitcoin transaction to the wallet whose inputs the
	// signature spends. Nothing is spent, and beside anything else but a fee no rule is asked.
	// It is derived from keys,
	// never from what the bytes claim, and is not part of the canonical form.
	Change bool

	// Mine says whether To is an account of the organization whose keys sign. Like
	// Change, it is derived from keys and is not part of the canonical form.
	Mine Mine

	// Owners lists whose account To is when the request is over, as far as the bytes or a
	// pinned reading name them, such as the wallet that a token account is given to. Like
	// Change, it is derived and not part of the canonical form.
	Owners Parties

	// Reached is set if the effect is by another signature and takes what our signature put
	// into From in the same bytes. A deny judges it as if it were by our signature. It is
	// derived and not part of the canonical form.
	Reached bool

	// Passage is set if To is no recipient, but an account that only passes on what it gets or
	// becomes another's: one that the same bytes create, initialize, give to another owner or
	// close, or a contract whose every act they contain. See Follow.
	Passage bool

	// Passed is set of an effect that Follow adds: what our signature put into From, a passage,
	// leaves it by another one. Onward is the part of Amount that later effects count, nil for
	// none; see Counted. Both are derived and not part of the canonical form.
	Passed bool
	Onward *big.Int

	// Domain is the domain that asks for a sign-in, or that a known text belongs to.
	Domain string

	// Path locates the effect in the summary's fields, such as "instructions/3" or
	// "calls/0/calls/2".
	Path string
}

// InitCode is the Function of effects that come from the init code of a user operation
// (ERC-4337): a KindCreate by a factory, which is From, or a KindCall of the account.
const InitCode = "init code"

// ToItself reports whether the effect is a transfer from an account to itself, as in the
// rejection of a Safe's transaction.
func (e *Effect) ToItself() bool { return e.Kind == KindTransfer && e.From.Equal(e.To) }

// payloadLabel begins the label of a payload.
const payloadLabel = "payload "

// PayloadLabel is the label of one of several payloads that a request signs. The paths of its
// effects begin with it.
func PayloadLabel(number int) string { return payloadLabel + strconv.Itoa(number) }

// Payload returns the label of the payload that the effect is of; empty if the request signs one
// thing alone. Each payload can be used without the others.
func (e *Effect) Payload() string {
	label, _, _ := strings.Cut(e.Path, "/")
	if !strings.HasPrefix(label, payloadLabel) {
		return ""
	}
	return label
}

// Mine says whether an account is one of the organization whose keys sign. The zero value
// is that its keys are not known, as without a keystore.
type Mine uint8

// The answers to whether an account is the organization's.
const (
	MineUnknown Mine = iota
	MineNo
	MineYes
)

// Arg is one argument of a call.
type Arg struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Notation is how a chain writes addresses. A Party keeps the notation instead of the
// text, so that an address is encoded only when its text is needed: decisions compare
// bytes.
type Notation struct {
	// Text returns the canonical text of an address in binary form.
	Text func(address []byte) string

	// Shown returns what is displayed instead of Text, such as the address of a script
	// on one network. Text is displayed if Shown is nil or returns an empty string.
	Shown func(address []byte) string
}

// Party is an address, the signer, none (the zero value), or unknown. Parties of one
// notation are comparable with ==, but decisions need Equal: unknown equals nothing.
type Party struct {
	kind     partyKind
	address  string // the chain's binary form, if it is an address
	notation *Notation
}

type partyKind uint8

const (
	partyNone partyKind = iota
	partyUnknown
	partySigner
	partyAddress
)

// SignerParty is the party that signs, where the bytes do not name it.
func SignerParty() Party { return Party{kind: partySigner} }

// UnknownParty is a party that the bytes do not contain.
func UnknownParty() Party { return Party{kind: partyUnknown} }

// SubmitterParty is unknown like UnknownParty: the account that will submit what is
// signed, which is not in the bytes.
func SubmitterParty() Party { return Party{kind: partyUnknown, notation: submitter} }

var submitter = &Notation{
	Text:  func([]byte) string { return unknown },
	Shown: func([]byte) string { return "whoever submits it" },
}

// PartyAt is the party at an address, which is copied. The address is in the chain's
// binary form: 20 bytes on Ethereum and Tempo, 21 on Tron, 32 on Solana, the
// scriptPubKey on Bitcoin.
func PartyAt(address []byte, notation *Notation) Party {
	return Party{kind: partyAddress, address: string(address), notation: notation}
}

// PartyWritten is PartyAt for an address whose text is known. Such parties are not
// comparable with ==.
func PartyWritten(address []byte, text string) Party {
	return PartyAt(address, &Notation{Text: func([]byte) string { return text }})
}

// Shown returns the text to be displayed: String, unless the notation shows another one.
func (p Party) Shown() string {
	if p.notation != nil && p.notation.Shown != nil {
		if shown := p.notation.Shown([]byte(p.address)); shown != "" {
			return shown
		}
	}
	return p.String()
}

// IsNone reports whether there is no party.
func (p Party) IsNone() bool { return p.kind == partyNone }

// IsUnknown reports whether there is a party that the bytes do not name.
func (p Party) IsUnknown() bool { return p.kind == partyUnknown }

// IsSigner reports whether it is the party that signs, without an address.
func (p Party) IsSigner() bool { return p.kind == partySigner }

// Address returns a copy of the address in the chain's binary form, nil if there is none.
func (p Party) Address() []byte {
	if p.address == "" {
		return nil
	}
	return []byte(p.address)
}

// Equal reports whether both are known and the same party. The notation is not compared.
func (p Party) Equal(other Party) bool {
	return p.kind == other.kind && (p.IsSigner() || p.kind == partyAddress && p.address == other.address)
}

// Is reports whether the party is at an address, given in binary form.
func (p Party) Is(address []byte) bool {
	return p.kind == partyAddress && p.address == string(address)
}

// String returns the text of the address in the chain's canonical form (on Bitcoin the
// script in hex), "signer", "unknown", or an empty string.
func (p Party) String() string {
	switch {
	case p.IsUnknown():
		return unknown
	case p.IsSigner():
		return "signer"
	case p.notation != nil:
		return p.notation.Text([]byte(p.address))
	}
	return ""
}

// Asset is the asset of an amount: none, unknown, or the native asset or a token of a
// chain.
type Asset struct {
	// Chain is the CAIP-2 id of the chain, such as "eip155:1", or its namespace
	// ("solana", "tron", "bip122") where the bytes name no network. It is empty if there
	// is no asset.
	Chain string

	// Token is the contract or mint, none for the native asset, unknown where the bytes
	// do not name the token.
	Token Party

	// TokenID is the id of a token without an address (TRC-10), otherwise empty.
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

// IsUnknown reports whether there is an asset that the bytes do not name.
func (a Asset) IsUnknown() bool { return a.Chain != "" && a.Token.IsUnknown() }

// IsNative reports whether it is the chain's native asset.
func (a Asset) IsNative() bool { return a.Chain != "" && a.Token.IsNone() && a.TokenID == "" }

// Equal reports whether both are known and the same asset of the same chain. An NFT is
// not the same asset as its collection. The standard is not compared.
func (a Asset) Equal(other Asset) bool {
	if a.IsNone() || other.IsNone() || a.IsUnknown() || other.IsUnknown() {
		return false
	}
	sameToken := a.Token.IsNone() && other.Token.IsNone() || a.Token.Equal(other.Token)
	sameNFT := a.NFT == nil && other.NFT == nil || a.NFT != nil && other.NFT != nil && a.NFT.Cmp(other.NFT) == 0
	return a.Chain == other.Chain && sameToken && a.TokenID == other.TokenID && sameNFT
}

// token returns the token in the canonical form.
func (a Asset) token() string {
	switch {
	case a.IsNative():
		return "native"
	case a.TokenID != "":
		return a.TokenID
	}
	return a.Token.String()
}

// Bound is how an amount bounds what leaves From.
type Bound string

// The bounds.
const (
	BoundExact     Bound = "exact"
	BoundMost      Bound = "most"      // at most the value
	BoundLeast     Bound = "least"     // at least the value
	BoundAll       Bound = "all"       // the whole balance, which the bytes do not say
	BoundAdded     Bound = "added"     // added to an existing amount: increaseAllowance, fees on top
	BoundUnlimited Bound = "unlimited" // of approvals: without a limit
)

// Quantity is the amount that leaves From, in the asset's smallest unit: none (the zero
// value), unknown, or a value with a bound.
type Quantity struct {
	Bound Bound // empty if there is no amount

	// Value is nil if there is no amount, if the amount is unknown, and with BoundAll.
	// It must not be changed.
	Value *big.Int
}

// Exactly is a quantity of a value, no more and no less.
func Exactly(value *big.Int) Quantity { return Quantity{Bound: BoundExact, Value: value} }

// ExactlyUint is Exactly for 64 bits.
func ExactlyUint(value uint64) Quantity { return Exactly(bigUint(value)) }

// bigUint is new(big.Int).SetUint64 in one allocation.
func bigUint(value uint64) *big.Int {
	var room struct {
		number big.Int
		words  [64 / bits.UintSize]big.Word
	}
	return room.number.SetBits(room.words[:0]).SetUint64(value)
}

// AtMost is a quantity of up to a value.
func AtMost(value *big.Int) Quantity { return Quantity{Bound: BoundMost, Value: value} }

// AtMostUint is AtMost for 64 bits.
func AtMostUint(value uint64) Quantity { return AtMost(bigUint(value)) }

// AtLeast is a quantity of a value or more.
func AtLeast(value *big.Int) Quantity { return Quantity{Bound: BoundLeast, Value: value} }

// All is a whole balance.
func All() Quantity { return Quantity{Bound: BoundAll} }

// Unlimited is the quantity of an approval without a limit. Value is the amount in the
// bytes, nil if there is none.
func Unlimited(value *big.Int) Quantity { return Quantity{Bound: BoundUnlimited, Value: value} }

// UnknownQuantity is an amount that the bytes do not say.
func UnknownQuantity() Quantity { return Quantity{Bound: BoundExact} }

// IsNone reports whether there is no amount.
func (q Quantity) IsNone() bool { return q.Bound == "" }

// IsUnknown reports whether no value bounds the amount from above.
func (q Quantity) IsUnknown() bool {
	return q.Bound == BoundAll || q.Bound == BoundLeast || q.Bound == BoundUnlimited || q.Bound != "" && q.Value == nil
}

// Until is when something expires: never (the zero value), at a time, at a height, or at
// an event of the chain.
type Until struct {
	Time   time.Time // zero if it is not a time
	Height uint64    // block or slot height; 0 if it is not a height
	Text   string    // an event, such as "blockhash": about 150 blocks after it, on Solana
}

// IsNone reports whether it never expires.
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

// ResolveSigner replaces SignerParty with the signer's address in effects, in place, and
// returns them.
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
