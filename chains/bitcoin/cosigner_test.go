package bitcoin_test

import (
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// TestCosignersAreNotProven checks that an output to a script of several keys is not
// change, whichever the other keys are. A PSBT in which an attacker's keys replace the
// cosigners' looks the same as an honest one, global extended keys and derivations
// included. So neither is trusted: both are payments, with a note that a key is in the
// script if the PSBT shows that.
func TestCosignersAreNotProven(t *testing.T) {
	ours := keyOf(t, secretOf(1))
	a, b, thief := ours.PublicKey(), keyOf(t, secretOf(2)).PublicKey(), keyOf(t, secretOf(3)).PublicKey()
	const note = "not yours one of your keys is in its script, which does not say whose the others are"
	witness := func(script []byte) bitcointest.Record {
		return bitcointest.Record{Key: []byte{psbt.OutWitnessScript}, Value: script}
	}
	redeem := func(script []byte) bitcointest.Record {
		return bitcointest.Record{Key: []byte{psbt.OutRedeemScript}, Value: script}
	}
	home, away := bitcointest.Multisig(2, a, b), bitcointest.Multisig(1, a, thief, thief)
	for name, c := range map[string]struct {
		to      bitcointest.Spend
		records []bitcointest.Record
		want    string
	}{
		"the cosigners":                {bitcointest.P2WSH(home), []bitcointest.Record{witness(home)}, note},
		"cosigners exchanged":          {bitcointest.P2WSH(away), []bitcointest.Record{witness(away)}, note},
		"nested":                       {bitcointest.Nested(bitcointest.P2WSH(away)), []bitcointest.Record{redeem(bitcointest.P2WSH(away).Script), witness(away)}, note},
		"legacy":                       {bitcointest.P2SH(away), []bitcointest.Record{redeem(away)}, note},
		"the script is not shown":      {bitcointest.P2WSH(home), nil, "not yours "},
		"another script is shown":      {bitcointest.P2WSH(bitcointest.Multisig(1, thief)), []bitcointest.Record{witness(home)}, "not yours "},
		"nested, another is shown":     {bitcointest.Nested(bitcointest.P2WSH(bitcointest.Multisig(1, thief))), []bitcointest.Record{redeem(bitcointest.P2WSH(home).Script), witness(home)}, "not yours "},
		"our key in data of its own":   {bitcointest.P2WSH(bitcointest.Nulldata(string(a.Bytes()))), nil, "not yours "},
		"a script of the others alone": {bitcointest.P2WSH(bitcointest.Multisig(2, b, thief)), []bitcointest.Record{witness(bitcointest.Multisig(2, b, thief))}, "not yours "},
	} {
		t.Run(name, func(t *testing.T) {
			output := c.to.Output(90_000)
			output.Records = append(c.records, claims(a, b)...)
			raw := bitcointest.PSBT{Inputs: []bitcointest.Input{bitcointest.P2WSH(home).Input(100_000, 1)}, Outputs: []bitcointest.Output{output}}.Encode()
			signing := chaintest.MustReady(t, parse(t, raw), "id", ours)
			if effects := signing.Effects(); effects[0].Change || effects[0].Kind != chains.KindTransfer {
				t.Errorf("%+v", effects[0])
			}
			if balance := signing.(chains.WalletSigning).Balance(); balance.Value == nil || balance.Value.Int64() != 100_000 {
				t.Errorf("balance %+v, want all of the input", balance)
			}
			for _, field := range signing.SignerView() {
				if got := field.Value + " " + field.Note; field.Label == "output 0" && got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
		})
	}
}

// claims are what a PSBT says about the keys of an output, whether true or not: BIP-48
// paths.
func claims(keys ...keystore.PublicKey) (records []bitcointest.Record) {
	for i, key := range keys {
		records = append(records, bitcointest.Record{
			Key:   append([]byte{psbt.OutBIP32Derivation}, key.Bytes()...),
			Value: []byte{byte(i), 2, 3, 4, 48, 0, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0x80, 2, 0, 0, 0x80, 1, 0, 0, 0, 5, 0, 0, 0},
		})
	}
	return records
}
