package names

import (
	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// Labeled is implemented by names that can list the addresses with a label.
type Labeled interface {
	// Labeled returns the addresses with a label, in their chains' binary form.
	Labeled() [][]byte
}

// Sentences describes each effect like [chains.Sentence]. Names may be nil.
//
// The address of a Solana token account does not reveal its owner. An account that is derived from
// an address that the effects name, or that has a label, is called its associated account. The
// address need not control it: the owner of a token account can be changed.
func Sentences(effects []chains.Effect, names chains.Names) []string {
	var known [][]byte
	if labeled, ok := names.(Labeled); ok {
		known = labeled.Labeled()
	}
	if wallets := tokenaccount.Wallets(effects, known...); len(wallets) > 0 {
		if names == nil {
			names = new(Book)
		}
		names = withAssociated{names, wallets}
	}
	sentences := make([]string, len(effects))
	for i := range effects {
		sentences[i] = chains.Sentence(effects[i], names)
	}
	return sentences
}

// withAssociated adds labels for associated token accounts to names.
type withAssociated struct {
	chains.Names
	wallets map[string]string // by account
}

func (n withAssociated) Label(party chains.Party) string {
	if label := n.Names.Label(party); label != "" {
		return label
	}
	wallet, ok := n.wallets[string(party.Address())]
	if !ok {
		return ""
	}
	if label := n.Names.Label(chains.PartyWritten([]byte(wallet), "")); label != "" {
		return "associated account of " + label
	}
	return "associated account of " + base58.Encode([]byte(wallet))
}
