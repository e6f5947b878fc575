package bitcoin_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
)

// TestToSpend has the virtual transactions of BIP-322's own vectors.
func TestToSpend(t *testing.T) {
	var vectors struct {
		Hashes []struct {
			Message, Address string
			ToSpend          string `json:"to_spend_tx_hash"`
		} `json:"tx_hashes"`
	}
	chaintest.ReadJSON(t, "testdata/bip322/basic.json", &vectors)
	for _, vector := range vectors.Hashes {
		script, err := bitcoin.ScriptOf(vector.Address)
		testenv.Must(t, err)
		id := bitcoin.ToSpendID([]byte(vector.Message), script)
		slices.Reverse(id[:])
		if got := hex.EncodeToString(id[:]); got != vector.ToSpend {
			t.Errorf("%q: %s, want %s", vector.Message, got, vector.ToSpend)
		}
	}
	if len(vectors.Hashes) < 3 {
		t.Error("vectors are missing")
	}
}

// toSign returns the PSBT of a BIP-322 message.
func toSign(text string, spend bitcointest.Spend) bitcointest.PSBT {
	in := spend.Input(0, 0)
	in.Tx = bitcoin.ToSpend([]byte(text), spend.Script)
	in.Sequence = 1 // the default of the helper is ffffffff
	return bitcointest.PSBT{
		TxVersion: 2, Inputs: []bitcointest.Input{in}, Outputs: []bitcointest.Output{{Script: []byte{txscript.OP_RETURN}}},
		Global: []bitcointest.Record{{Key: []byte{psbt.GlobalSignedMessage}, Value: []byte(text)}},
	}
}

// TestMessageIsShown checks that a BIP-322 message is shown with its text and address,
// signed, and finalized to what the script engine accepts. The text is what is hashed:
// it can be neither another one nor left out.
func TestMessageIsShown(t *testing.T) {
	key := keyOf(t, secretOf(0x22))
	const text = "I owe you 1000000 USD"
	for _, spend := range []bitcointest.Spend{
		bitcointest.P2WPKH(key.PublicKey()), bitcointest.BIP86(key.PublicKey()), bitcointest.P2PKH(key.PublicKey()),
	} {
		raw := toSign(text, spend).Encode()
		form, err := parse(t, raw).Summary().MarshalJSON()
		if err != nil || !strings.Contains(string(form), text) {
			t.Errorf("%v: the summary has no text: %s", err, form)
		}
		wantHazards(t, raw, key.PublicKey(), texts.HazardFreeText)
		signAll(t, raw, key)
	}
}

func TestMessageRefused(t *testing.T) {
	pub := keyOf(t, secretOf(0x22)).PublicKey()
	const text = "I owe you 1000000 USD"
	for name, change := range map[string]func(p *bitcointest.PSBT){
		"without its text": func(p *bitcointest.PSBT) { p.Global = nil },
		"without its text, with an output": func(p *bitcointest.PSBT) {
			p.Global, p.Outputs = nil, append(p.Outputs, bitcointest.P2PKH(pub).Output(0))
		},
		"without its text, claimed": func(p *bitcointest.PSBT) { p.Global, p.Inputs[0].Proof = nil, false },
		"another text":              func(p *bitcointest.PSBT) { p.Global[0].Value = []byte("I owe you 1 USD") },
		"a control character":       func(p *bitcointest.PSBT) { *p = toSign("a\x1bb", bitcointest.P2WPKH(pub)) },
		"a line that is reversed":   func(p *bitcointest.PSBT) { *p = toSign("a\u202eb", bitcointest.P2WPKH(pub)) },
		"no UTF-8":                  func(p *bitcointest.PSBT) { *p = toSign("a\xff", bitcointest.P2WPKH(pub)) },
		"another output script":     func(p *bitcointest.PSBT) { p.Outputs[0].Script = bitcointest.Nulldata("x") },
		"two outputs":               func(p *bitcointest.PSBT) { p.Outputs = append(p.Outputs, p.Outputs[0]) },
		"version 1":                 func(p *bitcointest.PSBT) { p.TxVersion = 1 },
		"SIGHASH_NONE":              func(p *bitcointest.PSBT) { p.Inputs[0].Sighash = 2 },
		"a true transaction":        func(p *bitcointest.PSBT) { p.Inputs[0].Tx = nil; p.Inputs[0].Amount = 1000 },
		"an amount that is claimed": func(p *bitcointest.PSBT) {
			p.Inputs[0].Proof, p.Inputs[0].Claim, p.Inputs[0].Claimed = false, true, 1000
		},
		"a second output that is claimed": func(p *bitcointest.PSBT) {
			p.Inputs[0].Proof, p.Inputs[0].Claim, p.Inputs[0].Index = false, true, 1
		},
	} {
		p := toSign(text, bitcointest.P2WPKH(pub))
		change(&p)
		if name == "without its text, claimed" {
			p.Inputs[0].Claim = true
		}
		t.Run(name, func(t *testing.T) { refused(t, p.Encode()) })
	}
}

// TestNoMessage checks that a transaction that pays nothing, or spends nothing, is not
// taken for a message.
func TestNoMessage(t *testing.T) {
	pub := keyOf(t, secretOf(0x22)).PublicKey()
	nothing := bitcointest.Output{Script: []byte{txscript.OP_RETURN}}
	for name, p := range map[string]bitcointest.PSBT{
		"pays nothing":   {Inputs: []bitcointest.Input{bitcointest.P2WPKH(pub).Input(1_000, 0)}, Outputs: []bitcointest.Output{nothing}},
		"spends nothing": {Inputs: []bitcointest.Input{bitcointest.P2WPKH(pub).Input(0, 0)}, Outputs: []bitcointest.Output{nothing, nothing}},
	} {
		t.Run(name, func(t *testing.T) { parse(t, p.Encode()) })
	}
}

// TestSpendingCoinbase checks that a coinbase, which like to_spend spends no
// transaction, is not taken for a message when it is spent.
func TestSpendingCoinbase(t *testing.T) {
	pub := keyOf(t, secretOf(0x22)).PublicKey()
	coinbase := slices.Concat([]byte{2, 0, 0, 0, 1}, make([]byte, 32), []byte{0xff, 0xff, 0xff, 0xff, 4, 3, 0x40, 0x0d, 0x0c, 0xff, 0xff, 0xff, 0xff, 1})
	coinbase = append(bitcointest.AppendTxOut(coinbase, 100_000, bitcointest.P2WPKH(pub).Script), 0, 0, 0, 0)
	raw := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0] = bitcointest.P2WPKH(pub).Input(100_000, 0)
		p.Inputs[0].Tx = coinbase
	})
	wantHazards(t, raw, keystore.PublicKey{})
}
