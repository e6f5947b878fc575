package policy

import (
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/oasisprotocol/curve25519-voi/curve"
)

// tokenAccount is what an associated token account of Solana is derived from,
// besides its owner. A transfer of a token goes to a token account; a list of
// the file names wallets. The two are matched by deriving the account.
type tokenAccount struct {
	mint     string
	programs []string // token programs whose account it may be
	account  string   // the address to match
}

// Programs of Solana, as addresses.
var (
	tokenProgram     = string(base58.Decode("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"))
	token2022Program = string(base58.Decode("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"))
	associatedToken  = string(base58.Decode("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"))
)

// tokenAccountOf returns what a token account of an effect derives from; nil if
// the effect is not of a token of Solana.
func tokenAccountOf(effect *effectView, account string) *tokenAccount {
	if effect.namespace != "solana" || effect.Asset.IsNone() || effect.Asset.IsNative() || effect.Asset.IsUnknown() {
		return nil
	}
	mint := string(effect.Asset.Token.Address())
	return &tokenAccount{mint: mint, programs: []string{tokenProgram, token2022Program}, account: account}
}

// belongsTo reports whether the account is the associated token account of a wallet.
func (t *tokenAccount) belongsTo(owner *address) bool {
	return t != nil && len(owner.bytes) == 32 && slices.Contains(t.accountsOf(owner.bytes), t.account)
}

// accountsOf returns the associated token accounts of a wallet for the mint: one
// for each token program, as the effect does not always say which it is.
func (t *tokenAccount) accountsOf(owner string) []string {
	var accounts []string
	for _, program := range t.programs {
		if derived, ok := programAddress(associatedToken, owner, program, t.mint); ok {
			accounts = append(accounts, derived)
		}
	}
	return accounts
}

// programAddress derives an address from seeds, as find_program_address does:
// SHA-256(seeds ‖ bump ‖ program ‖ "ProgramDerivedAddress") for the largest bump
// whose result is no point of the curve.
func programAddress(program string, seeds ...string) (derived string, ok bool) {
	var joined string
	for _, seed := range seeds {
		joined += seed
	}
	for bump := 255; bump >= 0; bump-- {
		digest := sha256.Sum256([]byte(joined + string([]byte{byte(bump)}) + program + "ProgramDerivedAddress"))
		if !isCurvePoint(digest) {
			return string(digest[:]), true
		}
	}
	return "", false
}

func isCurvePoint(encoded [32]byte) bool {
	var compressed curve.CompressedEdwardsY
	if _, err := compressed.SetBytes(encoded[:]); err != nil {
		return false
	}
	_, err := new(curve.EdwardsPoint).SetCompressedY(&compressed)
	return err == nil
}
