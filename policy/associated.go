package policy

import (
	"slices"

	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// tokenAccount is what an associated token account of Solana is derived from,
// besides its owner. A transfer of a token goes to a token account; a list of
// the file names wallets. The two are matched by deriving the account.
type tokenAccount struct {
	mint    string
	account string // the address to match
}

// tokenAccountOf returns what a token account of an effect derives from; nil if
// the effect is not of a token of Solana.
func tokenAccountOf(effect *effectView, account string) *tokenAccount {
	if effect.namespace != "solana" || effect.Asset.IsNone() || effect.Asset.IsNative() || effect.Asset.IsUnknown() {
		return nil
	}
	mint := string(effect.Asset.Token.Address())
	return &tokenAccount{mint: mint, account: account}
}

// belongsTo reports whether the account is the associated token account of a wallet.
func (t *tokenAccount) belongsTo(owner *address) bool {
	return t != nil && len(owner.bytes) == tokenaccount.Size && slices.Contains(t.accountsOf(owner.bytes), t.account)
}

// accountsOf returns the associated token accounts of a wallet for the mint.
func (t *tokenAccount) accountsOf(wallet string) []string { return tokenaccount.Of(wallet, t.mint) }
