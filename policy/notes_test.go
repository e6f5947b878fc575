package policy_test

import (
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	solanago "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// The texts that people send with a payment, and those that say where it goes on to, sign in, or make a key.
var (
	notes = []string{"invoice 17", "order #4711", "104556789", "Thanks for the coffee!", "Rent, May 2026", "🎂 happy birthday",
		"5 USDC for lunch", "d41d8cd98f00b204e9800998ecf8427e", "0f8fad5b-d9cb-469f-a165-70867728950e", "INV-2026/0017", "grazie mille\nAnna",
		"ref:17", "order:A-1", "alice.eth sent it", "A: the blue one", "from 0x5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765",
		"gm", "https://pay.example.com/i/17", "baseapp,morpho", `{"ref": 17}`, "tx d41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204e9800998ecf8427e"}
	directions = []string{"=:ETH.ETH:0x5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765:0/1/0", "=:BTC.BTC:mallory", "SWAP:ETH.ETH:0x5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765",
		"s:e:0x5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765", "S:b:mallory", "ADD:BTC.BTC:mallory",
		"Withdraw:BTC.BTC:9000", "lo:b:mallory:9", "m=<:9BTC.BTC:9ETH.ETH:0", "r:17",
		"+:BTC.BTC:thor1g98cy3n9mmjrpn0sxmn63lztelera37n8n67c0", "-:BTC.BTC:10000",
		"LOAN+:BTC.BTC:bc1qvux25709r4uw6rzc8wyl7wwecjdhrx085hm5ty",
		"a:ETH.ETH", "~:mallory:THOR", "SWITCH:mallory", "to:mallory.eth", "5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765",
		"s:ETH.ETH:mallory:0::::: hi", "0x5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765\n",
		"BOND:thor1g98cy3n9mmjrpn0sxmn63lztelera37n8n67c0", "0x5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765", "to=7EUk3MyQsHpxeccn8Gn2myXF1ZomwnTt1oMjt1mf9NLm",
		"TJekdbRmbSqZwbQuLoQuTCbngPa3dXjctt", `{"p":"x","op":"transfer","amt":"1000"}`, "Sign this message to derive your private key",
		"Authorize bob.eth to withdraw my funds", "evil.com wants you to sign in with your Ethereum account:\n" + enginetest.Address,
		"ethereum:0x5f3ba1d1d38b3ddf5f1a9c0a5a2af3c4ade98765/transfer?uint256=5", "hidden \x1b[31m text"}
)

// noted returns a payment with a text on each chain that has a place for one.
func (d *ordinaryDraw) noted(text string) map[string]activity.SignTransactionIntent {
	d.t.Helper()
	stranger := d.stranger()
	memo := solanago.NewInstruction(solanago.MemoProgramID, nil, []byte(text))
	pays := solanago.NewInstruction(solanago.SystemProgramID, metas("bw", d.owner, solanago.PublicKeyFromBytes(stranger)), little(2, 5))
	raw, err := hex.DecodeString(d.contract(1, "TransferContract", slices.Concat(field(1, append([]byte{0x41}, common.HexToAddress(enginetest.Address).Bytes()...)),
		field(2, append([]byte{0x41}, stranger[:20]...)), number(3, 5))))
	testenv.Must(d.t, err)
	const contractAt = 21 // the fields in front of the memo
	own := bitcointest.P2WPKH(d.pub)
	p := bitcointest.PSBT{Inputs: []bitcointest.Input{own.Input(1_000_000, 0)}, Outputs: []bitcointest.Output{
		{Amount: 90_000, Script: append([]byte{0, 20}, stranger[:20]...)}, own.Output(900_000), {Script: bitcointest.Nulldata(text)}}}
	return map[string]activity.SignTransactionIntent{
		"Ethereum": {SignWith: "key-1", Type: activity.TransactionTypeEthereum, UnsignedTransaction: d.typeTwo(common.BytesToAddress(stranger), big.NewInt(5), []byte(text))},
		"Solana":   {SignWith: "key-2", Type: activity.TransactionTypeSolana, UnsignedTransaction: d.transaction(pays, memo)},
		"Tron":     {SignWith: "key-1", Type: activity.TransactionTypeTron, UnsignedTransaction: hex.EncodeToString(slices.Insert(raw, contractAt, field(10, []byte(text))...))},
		"Bitcoin":  {SignWith: "key-1", Type: activity.TransactionTypeBitcoin, UnsignedTransaction: hex.EncodeToString(p.Encode())},
	}
}

// TestNotes: on every chain a text that only refers to the payment beside it is signed, and any other needs
// to be allowed, because who is paid may act on it.
func TestNotes(t *testing.T) {
	f := enginetest.New(t)
	d := newOrdinaryDraw(t, f, rand.New(rand.NewPCG(8, 2)))
	for _, text := range append(slices.Clone(notes), directions...) {
		isNote := slices.Contains(notes, text)
		for chain, intent := range d.noted(text) {
			if chain == "Ethereum" && len(text) < 4 || chain == "Solana" && strings.Contains(text, "\x1b") {
				continue // no selector; a memo that cannot be shown as text
			}
			if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent); (err == nil) != isNote {
				t.Errorf("%s: %q: %v", chain, text, err)
			}
		}
	}
}
