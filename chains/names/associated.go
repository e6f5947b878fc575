package names

import (
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// Labeled are names that list the addresses which have one.
type Labeled interface {
	// Labeled returns the addresses with a label, in their chains' binary form.
	Labeled() [][]byte
}

// maxDerived bounds the pairs of wallet and mint whose accounts are derived for one
// transaction: some tens of milliseconds.
const maxDerived = 1024

// Sentences says what each effect does, as [chains.Sentence]. Names may be nil.
//
// A token account of Solana does not say whose it is. One that is derived from an
// address which the effects name, or which has a label, is called its associated
// account. That is no promise that the address controls it: the owner of a token
// account can be changed.
func Sentences(effects []chains.Effect, known chains.Names) []string {
	if wallets := associated(effects, known); len(wallets) > 0 {
		known = withAssociated{known, wallets}
	}
	sentences := make([]string, len(effects))
	for i := range effects {
		sentences[i] = chains.Sentence(effects[i], known)
	}
	return sentences
}

// associated returns the wallets of associated token accounts, by account.
func associated(effects []chains.Effect, known chains.Names) map[string]string {
	wallets, mints := mentioned(effects)
	if len(mints) == 0 {
		return nil
	}
	if labeled, ok := known.(Labeled); ok {
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

// addresses is a set of addresses of 32 bytes, in their order.
type addresses struct {
	list []string
	seen map[string]bool
}

func (a *addresses) add(address []byte) {
	if len(address) == tokenaccount.Size && !a.seen[string(address)] {
		a.list, a.seen[string(address)] = append(a.list, string(address)), true
	}
}

// mentioned returns the addresses that the effects on Solana name, and the mints.
func mentioned(effects []chains.Effect) (wallets addresses, mints []string) {
	wallets.seen = map[string]bool{}
	tokens := addresses{seen: map[string]bool{}}
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

// withAssociated are names that call an associated token account so.
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
