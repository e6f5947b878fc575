package names

import (
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// Labeled is implemented by names that can list the addresses with a label.
type Labeled interface {
	// Labeled returns the addresses with a label, in their chains' binary form.
	Labeled() [][]byte
}

// maxDerived bounds the pairs of wallet and mint whose accounts are derived for one
// transaction, which takes some tens of milliseconds.
const maxDerived = 1024

// Sentences describes each effect like [chains.Sentence]. Names may be nil.
//
// The address of a Solana token account does not reveal its owner. An account that is
// derived from an address that the effects name, or that has a label, is called its
// associated account. The address need not control it: the owner of a token account can
// be changed.
func Sentences(effects []chains.Effect, names chains.Names) []string {
	if wallets := associated(effects, names); len(wallets) > 0 {
		names = withAssociated{names, wallets}
	}
	sentences := make([]string, len(effects))
	for i := range effects {
		sentences[i] = chains.Sentence(effects[i], names)
	}
	return sentences
}

// associated returns the wallets of associated token accounts, by account.
func associated(effects []chains.Effect, names chains.Names) map[string]string {
	wallets, mints := mentioned(effects)
	if len(mints) == 0 {
		return nil
	}
	if labeled, ok := names.(Labeled); ok {
		for _, address := range labeled.Labeled() {
			wallets.add(address)
		}
	}
	accounts, derived := map[string]string{}, 0
	for _, wallet := range wallets.list {
		for _, mint := range mints {
			if derived++; derived > maxDerived {
				return accounts
			}
			for _, account := range tokenaccount.Of(wallet, mint) {
				accounts[account] = wallet
			}
		}
	}
	return accounts
}

// addresses is a set of addresses of 32 bytes in the order in which they were added.
type addresses struct {
	list []string
	set  map[string]bool
}

func (a *addresses) add(address []byte) {
	if len(address) == tokenaccount.Size && !a.set[string(address)] {
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
		for _, party := range []chains.Party{e.From, e.To, e.OtherSigner, e.Account} {
			wallets.add(party.Address())
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

// withAssociated adds labels for associated token accounts to names.
type withAssociated struct {
	chains.Names
	wallets map[string]string // by account
}

// Token implements chains.Names.
func (n withAssociated) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	if n.Names == nil {
		return "", 0, false
	}
	return n.Names.Token(asset)
}

// Label implements chains.Names.
func (n withAssociated) Label(party chains.Party) string {
	if label := n.labelOf(party); label != "" {
		return label
	}
	wallet, ok := n.wallets[string(party.Address())]
	if !ok {
		return ""
	}
	if label := n.labelOf(chains.PartyWritten([]byte(wallet), "")); label != "" {
		return "associated account of " + label
	}
	return "associated account of " + base58.Encode([]byte(wallet))
}

func (n withAssociated) labelOf(party chains.Party) string {
	if n.Names == nil {
		return ""
	}
	return n.Names.Label(party)
}
