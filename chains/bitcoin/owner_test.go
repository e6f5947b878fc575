package bitcoin_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestOwner: a script that one key can have leads to that key, whatever a PSBT says about it.
func TestOwner(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	nested, err := keystore.NestedLocator(a)
	testenv.Must(t, err)
	taproot, err := keystore.TaprootLocator(a)
	testenv.Must(t, err)
	for name, test := range map[string]struct {
		spend bitcointest.Spend
		at    keystore.Locator
	}{
		"P2PKH":       {bitcointest.P2PKH(a), keystore.ByHash160(a.Hash160())},
		"P2WPKH":      {bitcointest.P2WPKH(a), keystore.ByHash160(a.Hash160())},
		"P2SH-P2WPKH": {bitcointest.Nested(bitcointest.P2WPKH(a)), nested},
		"P2TR":        {bitcointest.BIP86(a), taproot},
		"P2WSH":       {bitcointest.P2WSH(bitcointest.Multisig(1, a)), keystore.Locator{}},
	} {
		if at, ok := (bitcoin.Chain{}).Locate(test.spend.Script); at != test.at || ok != (at != keystore.Locator{}) {
			t.Errorf("%s: %v, %v", name, at, ok)
		}
	}
}

// TestRedeemScriptFollowsFromKey: of two inputs at the key's P2SH-P2WPKH address, one lacks
// the redeem script. Both are signed, the missing record is added, and the transaction is
// valid. The digest of the summary does not depend on who signs.
func TestRedeemScriptFollowsFromKey(t *testing.T) {
	key := keyOf(t, secretOf(1))
	home := bitcointest.Nested(bitcointest.P2WPKH(key.PublicKey()))
	bare := home
	bare.Records = nil
	stranger := bitcointest.P2WPKH(keyOf(t, secretOf(9)).PublicKey())
	for _, signWith := range []string{key.ID(), (bitcoin.Chain{}).Addresses(key.PublicKey())[1].Address} {
		for name, inputs := range map[string][]bitcointest.Input{
			"one of two": {home.Input(100_000, 1), bare.Input(100_000, 2)},
			"alone":      {bare.Input(200_000, 1)},
		} {
			raw := bitcointest.PSBT{Inputs: inputs, Outputs: []bitcointest.Output{stranger.Output(150_000)}}.Encode()
			tx := parse(t, raw)
			before := tx.Summary().Digest()
			signing, err := chaintest.Ready(tx, signWith, key)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			view := signing.SignerView()
			if last := view[len(inputs)]; !strings.Contains(last.Note, "as P2SH-P2WPKH: its redeem script follows from the key") {
				t.Errorf("%s: the view says %q", name, last.Note)
			}
			if balance := signing.(chains.WalletSigning).Balance(); balance.Value.Int64() != 200_000 {
				t.Errorf("%s: %v leaves", name, balance)
			}
			signed, err := signing.AppendSigned(t.Context(), nil)
			testenv.Must(t, err)
			if tx.Summary().Digest() != before {
				t.Errorf("%s: the summary has changed", name)
			}
			if _, err := bitcoin.Finalize(signed); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestInputsThatAreAskedFor: an input of the address or of the key that cannot be signed
// stops the others; one of another key of the organization is named with that key.
func TestInputsThatAreAskedFor(t *testing.T) {
	key, other := keyOf(t, secretOf(1)), keyOf(t, secretOf(2))
	stranger := bitcointest.P2WPKH(keyOf(t, secretOf(9)).PublicKey())
	mine := bitcointest.P2WPKH(key.PublicKey())
	with := func(second bitcointest.Spend) *bitcoin.Transaction {
		return parse(t, bitcointest.PSBT{
			Inputs:  []bitcointest.Input{mine.Input(100_000, 1), second.Input(70_000, 2)},
			Outputs: []bitcointest.Output{stranger.Output(150_000)},
		}.Encode())
	}
	uncompressed := key.PublicKey().Uncompressed()
	old := bitcointest.Spend{Legacy: true, Script: bitcointest.P2PKHOf(uncompressed[:]).Script}
	tx := with(old)
	_, err := chaintest.Ready(tx, key.ID(), key)
	wantNotSigner(t, err, "input 1, of 0.0007 BTC", "uncompressed form", "nothing was signed")
	if _, err := chaintest.Ready(tx, (bitcoin.Chain{}).Addresses(key.PublicKey())[2].Address, key); err != nil {
		t.Errorf("by the address of the other input: %v", err)
	}
	h := heldKeys{keys: []keystore.Key{key, other}, paths: []string{"m/84'/0'/0'/0/0", "m/84'/0'/0'/0/1"}}
	second := with(bitcointest.P2WPKH(other.PublicKey()))
	signing := chaintest.MustReady(t, second, key.ID(), key)
	view := resolved(signing, h).SignerView()
	if field := view[2]; field.Value != "yours" || field.Note != "not signed: needs key "+other.ID()+", m/84'/0'/0'/0/1" {
		t.Errorf("%+v", field)
	}
}

// TestDerivations covers key origins of inputs and outputs, plain and taproot, each
// once.
func TestDerivations(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	x, compressed := a.XOnly(), a.Bytes()
	origin := []byte{1, 2, 3, 4, 84, 0, 0, 0x80, 7, 0, 0, 0}
	plain := bitcointest.Record{Key: append([]byte{psbt.InBIP32Derivation}, compressed...), Value: origin}
	input, output := bitcointest.P2WPKH(a).Input(100_000, 1), bitcointest.P2WPKH(a).Output(90_000)
	input.Records = append(input.Records, plain)
	leaves := append([]byte{2}, bytes.Repeat([]byte{9}, 64)...)
	output.Records = []bitcointest.Record{
		{Key: append([]byte{psbt.OutBIP32Derivation}, compressed...), Value: origin},
		{Key: append([]byte{psbt.OutTapBIP32Derivation}, x[:]...), Value: append(leaves, origin...)},
	}
	raw := bitcointest.PSBT{Inputs: []bitcointest.Input{input}, Outputs: []bitcointest.Output{output}}.Encode()
	all, err := bitcoin.Derivations(raw)
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for i, key := range [][]byte{compressed, x[:]} {
		d := all[i]
		if d.Fingerprint != [4]byte{1, 2, 3, 4} || len(d.Path) != 2 || d.Path[0] != 1<<31+84 || d.Path[1] != 7 || !bytes.Equal(d.PublicKey, key) {
			t.Errorf("%d: %+v", i, d)
		}
	}
	if _, err := bitcoin.Derivations(raw[:len(raw)-1]); err == nil {
		t.Error("a PSBT that is cut")
	}
}
