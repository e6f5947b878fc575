package tokenaccount

import (
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
)

// maxDerived bounds the pairs of wallet and mint whose accounts are derived for one
// transaction, which takes some tens of milliseconds.
const maxDerived = 1024

// nativeMints are the mints of wrapped SOL: an account of theirs holds SOL.
var nativeMints = [][]byte{
	base58.Decode("So11111111111111111111111111111111111111112"),
	base58.Decode("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9"),
}

// HoldsSOL reports whether an account is the one that a wallet has for wrapped SOL.
func HoldsSOL(account, wallet []byte) bool {
	return slices.ContainsFunc(nativeMints, func(mint []byte) bool {
		return slices.Contains(Of(string(wallet), string(mint)), string(account))
	})
}

// Wallets returns the wallets of associated token accounts, by account: of the given
// wallets and those that the effects name, for the mints that the effects name,
// and for wrapped SOL if they move SOL.
func Wallets(effects []chains.Effect, known ...[]byte) map[string]string {
	wallets, mints := mentioned(effects)
	if len(mints) == 0 {
		return nil
	}
	for _, wallet := range known {
		wallets.add(wallet)
	}
	accounts, derived := map[string]string{}, 0
	for _, wallet := range wallets.list {
		for _, mint := range mints {
			if derived++; derived > maxDerived {
				return accounts
			}
			for _, account := range Of(wallet, mint) {
				accounts[account] = wallet
			}
		}
	}
	return accounts
}

// addresses is a set of addresses in the order in which they were added.
type addresses struct {
	list []string
	set  map[string]bool
}

func (a *addresses) add(address []byte) {
	if len(address) == size && !a.set[string(address)] {
		a.list, a.set[string(address)] = append(a.list, string(address)), true
	}
}

// mentioned returns the addresses and the mints in effects on Solana.
func mentioned(effects []chains.Effect) (wallets addresses, mints []string) {
	wallets.set = map[string]bool{}
	tokens := addresses{set: map[string]bool{}}
	for i := range effects {
		e := &effects[i]
		if namespace, _, _ := strings.Cut(e.Asset.Chain, ":"); namespace != "solana" {
			continue
		}
		tokens.add(e.Asset.Token.Address())
		if e.Kind == chains.KindTransfer && e.Asset.IsNative() {
			tokens.add(nativeMints[0])
		}
		for _, party := range []chains.Party{e.From, e.To, e.OtherSigner, e.Account} {
			wallets.add(party.Address())
		}
		for _, owner := range e.Owners {
			wallets.add(owner.Address())
		}
		for _, arg := range e.Args {
			switch arg.Name {
			case "wallet":
				wallets.add(base58.Decode(arg.Value))
			case "mint":
				tokens.add(base58.Decode(arg.Value))
			}
		}
	}
	return wallets, tokens.list
}
