package names_test

import (
	"crypto/sha256"
	"math/big"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func key(number int) solana.PublicKey { return sha256.Sum256([]byte{byte(number), byte(number >> 8)}) }

func at(address solana.PublicKey) chains.Party {
	return chains.PartyWritten(address[:], address.String())
}

func associatedOf(t *testing.T, wallet, mint solana.PublicKey) solana.PublicKey {
	t.Helper()
	account, _, err := solana.FindAssociatedTokenAddress(wallet, mint)
	testenv.Must(t, err)
	return account
}

// sent returns the fee of a payer and a transfer to a token account.
func sent(payer, mint, account solana.PublicKey) []chains.Effect {
	return []chains.Effect{
		{Kind: chains.KindFee, From: at(payer), Asset: chains.Native("solana"), Amount: chains.AtMost(big.NewInt(5000))},
		{Kind: chains.KindTransfer, From: at(key(90)), To: at(account), Asset: chains.Token("solana", at(mint), "spl-token"), Amount: chains.ExactlyUint(7)},
	}
}

// TestAssociatedAccountsAreNamed: the account of a transfer is called the associated account
// of a wallet that the transaction names or that has a label, and of no other.
func TestAssociatedAccountsAreNamed(t *testing.T) {
	payer, wallet, mint := key(1), key(2), key(3)
	labeled := names.New(all.Chains(all.Limits{})...)
	testenv.Must(t, labeled.AddLabel("solana", wallet.String(), "treasury"))
	creates := chains.Effect{Kind: chains.KindCreate, From: at(payer), To: at(associatedOf(t, wallet, mint)), Asset: chains.Native("solana"),
		Args: []chains.Arg{{Name: "wallet", Value: wallet.String()}, {Name: "mint", Value: mint.String()}}}
	ofWallet, ofPayer := associatedOf(t, wallet, mint), associatedOf(t, payer, mint)
	for name, c := range map[string]struct {
		effects []chains.Effect
		names   chains.Names
		want    string // empty if there is no label
	}{
		"the payer's own":                   {sent(payer, mint, ofPayer), nil, "(associated account of " + payer.String() + ")"},
		"created in the same transaction":   {append(sent(payer, mint, ofWallet), creates), nil, "(associated account of " + wallet.String() + ")"},
		"of an address with a label":        {sent(payer, mint, ofWallet), labeled, "(associated account of treasury)"},
		"of an address that nothing names":  {sent(payer, mint, ofWallet), names.New(all.Chains(all.Limits{})...), ""},
		"for another mint":                  {sent(payer, key(4), ofWallet), labeled, ""},
		"the wallet itself, with its label": {sent(payer, mint, wallet), labeled, "(treasury)"},
	} {
		got := names.Sentences(c.effects, c.names)[1]
		if c.want == "" && strings.Contains(got, "(") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAssociatedAccountsAreBounded: with many parties and a large address book, the number
// of derived accounts is bounded, and the parties of the transaction come first.
func TestAssociatedAccountsAreBounded(t *testing.T) {
	book, effects := names.New(all.Chains(all.Limits{})...), []chains.Effect{}
	for i := range 5000 {
		testenv.Must(t, book.AddLabel("solana", key(1000+i).String(), "label"))
	}
	for i := range 256 {
		effects = append(effects, sent(key(1), key(300+i%4), associatedOf(t, key(1), key(300+i%4)))...)
	}
	for i, sentence := range names.Sentences(effects, book) {
		if i%2 == 1 && !strings.Contains(sentence, "associated account of "+key(1).String()) {
			t.Fatalf("%q", sentence)
		}
	}
}
