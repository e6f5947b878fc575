package bitcoin_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// TestOwnerOfNestedOutput checks that a P2SH-P2WPKH output belongs to a key if the PSBT
// has the redeem script that it hashes to, in the output or in an input, and not with
// another redeem script or none.
func TestOwnerOfNestedOutput(t *testing.T) {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	home := bitcointest.Nested(bitcointest.P2WPKH(a))
	redeem := func(pub keystore.PublicKey) []bitcointest.Record {
		return []bitcointest.Record{{Key: []byte{psbt.OutRedeemScript}, Value: bitcointest.P2WPKH(pub).Script}}
	}
	for name, test := range map[string]struct {
		from    bitcointest.Spend
		records []bitcointest.Record
		ours    bool
	}{
		"by its redeem script":        {bitcointest.P2WPKH(b), redeem(a), true},
		"by the input's":              {home, nil, true},
		"by nothing":                  {bitcointest.P2WPKH(b), nil, false},
		"by another's":                {bitcointest.P2WPKH(b), redeem(b), false},
		"by a script that is no hash": {bitcointest.P2WPKH(b), []bitcointest.Record{{Key: []byte{psbt.OutRedeemScript}, Value: bitcointest.P2PKH(a).Script}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			output := home.Output(90_000)
			output.Records = test.records
			raw := bitcointest.PSBT{Inputs: []bitcointest.Input{test.from.Input(100_000, 1)}, Outputs: []bitcointest.Output{output}}.Encode()
			tx, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			at, ok := tx.(chains.OwnerFinder).Owner(home.Script)
			if ok != test.ours || ok && at != keystore.ByHash160(a.Hash160()) {
				t.Errorf("%v, %v", at, ok)
			}
			if at, ok := tx.(chains.OwnerFinder).Owner(bitcointest.P2WPKH(b).Script); !ok || at != keystore.ByHash160(b.Hash160()) {
				t.Errorf("P2WPKH: %v, %v", at, ok)
			}
		})
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
