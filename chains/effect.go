package chains

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/internal/strictjson"
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

// Effect is one thing that a signature does, as far as the bytes say. Every member is a value, none
// (its zero value), or unknown. An unknown member equals nothing and satisfies no bound.
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

	// Change is set if what leaves an account of ours comes back to it: a transfer from the account
	// to itself, or an output of a Bitcoin transaction to the wallet whose inputs the signature
	// spends. Nothing is spent, and beside anything else but a fee no rule is asked. It is derived
	// from keys, never from what the bytes claim, and is not part of the canonical form.
	Change bool

	// Controlled says whether To is an account of the organization, see Accounts. Like Change,
	// it is derived from keys and is not part of the canonical form.
	Controlled Controlled

	// Owners lists whose account To is when the request is over, as far as the bytes or a
	// pinned reading name them, such as the wallet that a token account is given to. Like
	// Change, it is derived and not part of the canonical form.
	Owners Parties

	// Reached is set if the effect is by another signature and takes what our signature put
	// into From in the same bytes, or lets it take. A deny judges it as if it were by our
	// signature. It is derived and not part of the canonical form.
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

// What the labels of payloads begin with.
const (
	payloadLabel     = "payload "
	transactionLabel = "transaction "
)

// PayloadLabel is the label of one of several payloads that a request signs. The paths of its
// effects begin with it.
func PayloadLabel(number int) string { return payloadLabel + strconv.Itoa(number) }

// TransactionLabel is the PayloadLabel of a transaction of a list.
func TransactionLabel(number int) string { return transactionLabel + strconv.Itoa(number) }

// Payload returns the label of the payload that the effect is of; empty if the request signs one
// thing alone. Each payload can be used without the others.
func (e *Effect) Payload() string {
	label, _, _ := strings.Cut(e.Path, "/")
	if !strings.HasPrefix(label, payloadLabel) && !strings.HasPrefix(label, transactionLabel) {
		return ""
	}
	return label
}

// Controlled says whether an address is an account of the organization whose keys sign. The
// zero value is that its keys are not known, as without a keystore.
type Controlled uint8

// The answers to whether an address is an account of the organization.
const (
	ControlledUnknown Controlled = iota
	ControlledNo
	ControlledYes
)

// Arg is one argument of a call.
type Arg struct {
	Name  string `json:"name"`
	Value string `json:"value"`
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

// unknown stands in the canonical form for what the bytes do not say.
const unknown = "unknown"

// effectForm is the canonical form of an effect. A member that is none is absent, and
// one that is unknown is the string "unknown".
type effectForm struct {
	Kind        Kind       `json:"kind"`
	From        string     `json:"from,omitempty"`
	By          By         `json:"by"`
	OtherSigner string     `json:"otherSigner,omitempty"`
	To          string     `json:"to,omitempty"`
	Account     string     `json:"account,omitempty"`
	Asset       *assetForm `json:"asset,omitempty"`
	Amount      string     `json:"amount,omitempty"`
	Bound       Bound      `json:"bound,omitempty"`
	Unlimited   bool       `json:"unlimited,omitempty"`
	Until       string     `json:"until,omitempty"`
	Decoded     bool       `json:"decoded"`
	Unresolved  []string   `json:"unresolved,omitempty"`
	Function    string     `json:"function,omitempty"`
	Args        []Arg      `json:"args,omitempty"`
	Path        string     `json:"path,omitempty"`
}

type assetForm struct {
	Chain    string `json:"chain"`
	Token    string `json:"token"`
	ID       string `json:"id,omitempty"`
	Standard string `json:"standard,omitempty"`
}

// MarshalJSON returns the canonical form. Amounts are decimal integers of the smallest
// unit, members that are none are absent, and unknown ones are "unknown".
func (e Effect) MarshalJSON() ([]byte, error) {
	form := effectForm{
		Kind: e.Kind, From: e.From.String(), By: e.By, OtherSigner: e.OtherSigner.String(), To: e.To.String(),
		Account: e.Account.String(), Until: e.Until.String(), Decoded: !e.Undecoded,
		Unresolved: e.Unresolved, Function: e.Function, Args: e.Args, Path: e.Path,
		Bound: e.Amount.Bound, Unlimited: e.Amount.Bound == BoundUnlimited,
	}
	if a := e.Asset; !a.IsNone() {
		form.Asset = &assetForm{Chain: a.Chain, Token: cmp.Or(a.TokenID, a.Token.String()), Standard: a.Standard}
		if a.IsNative() {
			form.Asset.Token = "native"
		}
		if a.NFT != nil {
			form.Asset.ID = a.NFT.String()
		}
	}
	switch q := e.Amount; {
	case q.IsNone(), q.Value == nil && (q.Bound == BoundAll || q.Bound == BoundUnlimited):
	case q.Value == nil:
		form.Amount = unknown
	default:
		form.Amount = q.Value.String()
	}
	return strictjson.Marshal(form)
}
