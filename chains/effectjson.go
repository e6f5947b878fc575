package chains

import (
	"cmp"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

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
