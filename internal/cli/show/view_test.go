package show

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestViewNamesAssociatedAccounts: if the transaction names the wallet, the view says whose
// associated account a token goes to.
func TestViewNamesAssociatedAccounts(t *testing.T) {
	wallet, mint := solana.NewWallet().PublicKey(), solana.NewWallet().PublicKey()
	account, _, err := solana.FindAssociatedTokenAddress(wallet, mint)
	testenv.Must(t, err)
	at := func(key solana.PublicKey) chains.Party { return chains.PartyWritten(key[:], key.String()) }
	shown := View{Summary: chains.Summary{Chain: "solana"}, Effects: []chains.Effect{
		{Kind: chains.KindFee, From: at(wallet), Asset: chains.Native("solana"), Amount: chains.AtMost(big.NewInt(5000))},
		{Kind: chains.KindTransfer, To: at(account), Asset: chains.Token("solana", at(mint), "spl-token"), Amount: chains.ExactlyUint(7)},
	}}
	var out bytes.Buffer
	testenv.Must(t, shown.Render(&out))
	if text := strings.ReplaceAll(out.String(), "\n| ", " "); !strings.Contains(text, "(associated account of "+wallet.String()+")") {
		t.Errorf("%s", text)
	}
}
