package bitcoin_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestValueNotSpendableByOwner checks that each output script with value that its owner
// alone cannot spend is a hazard that points at the output, and without value none.
func TestValueNotSpendableByOwner(t *testing.T) {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	noPoint := bytes.Repeat([]byte{0xff}, 32)
	fakeKey := slices.Concat([]byte{33, 2}, noPoint)
	oneReal := slices.Concat([]byte{txscript.OP_1, 33}, a.Bytes(), fakeKey, []byte{txscript.OP_2, txscript.OP_CHECKMULTISIG})
	twoOfOneReal := slices.Concat([]byte{txscript.OP_2, 33}, a.Bytes(), fakeKey, []byte{txscript.OP_2, txscript.OP_CHECKMULTISIG})
	pointH, err := schnorr.ParsePubKey(bitcointest.NUMS)
	testenv.Must(t, err)
	payTo := func(address string) []byte {
		script, err := bitcoin.ScriptOf(address)
		testenv.Must(t, err)
		return script
	}
	for name, c := range map[string]struct {
		script []byte
		want   string
	}{
		"OP_RETURN":                {bitcointest.Nulldata("hello"), bitcoin.HazardBurn},
		"OP_RETURN alone":          {[]byte{txscript.OP_RETURN}, bitcoin.HazardBurn},
		"OP_TRUE":                  {[]byte{txscript.OP_TRUE}, bitcoin.HazardAnyoneCanSpend},
		"empty":                    {nil, bitcoin.HazardAnyoneCanSpend},
		"P2A":                      {[]byte{txscript.OP_1, 2, 0x4e, 0x73}, bitcoin.HazardAnyoneCanSpend},
		"witness version 2":        {append([]byte{txscript.OP_2, 32}, noPoint...), bitcoin.HazardAnyoneCanSpend},
		"witness version 1, short": {[]byte{txscript.OP_1, 3, 1, 2, 3}, bitcoin.HazardAnyoneCanSpend},
		"witness version 0, short": {[]byte{txscript.OP_0, 5, 1, 2, 3, 4, 5}, bitcoin.HazardBurn},
		"P2TR of no point":         {append([]byte{txscript.OP_1, 32}, noPoint...), bitcoin.HazardBurn},
		"OP_FALSE OP_IF":           {[]byte{txscript.OP_0, txscript.OP_IF}, bitcoin.HazardAnyoneCanSpend},
		"cut off":                  {[]byte{txscript.OP_DATA_20, 1}, bitcoin.HazardBurn},
		"too long":                 {bytes.Repeat([]byte{txscript.OP_NOP}, 10_001), bitcoin.HazardBurn},
		"P2PK of no point":         {append(bytes.Clone(fakeKey), txscript.OP_CHECKSIG), bitcoin.HazardBurn},
		"2 of 2, one no point":     {twoOfOneReal, bitcoin.HazardBurn},
		"eater":                    {payTo("1BitcoinEaterAddressDontSendf59kuE"), bitcoin.HazardBurn},
		"Counterparty's":           {payTo("1CounterpartyXXXXXXXXXXXXXXXUWLpVr"), bitcoin.HazardBurn},
		"Chancecoin's":             {payTo("1ChancecoinXXXXXXXXXXXXXXXXXZELUFD"), bitcoin.HazardBurn},
		"zero key hash":            {append([]byte{txscript.OP_0, 20}, make([]byte, 20)...), bitcoin.HazardBurn},
		"hash lock":                {slices.Concat([]byte{txscript.OP_SHA256, 32}, noPoint, []byte{txscript.OP_EQUAL}), bitcoin.HazardAnyoneCanSpend},
		"1 of 2, one no point":     {oneReal, ""},
		"P2PKH":                    {bitcointest.P2PKH(b).Script, ""},
		"P2PK":                     {bitcointest.P2PK(b).Script, ""},
		"P2SH":                     {bitcointest.P2SH(oneReal).Script, ""},
		"P2WPKH":                   {bitcointest.P2WPKH(b).Script, ""},
		"P2WSH":                    {bitcointest.P2WSH(oneReal).Script, ""},
		"P2TR":                     {bitcointest.BIP86(b).Script, ""},
		"BIP-173's P2WPKH":         {payTo("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"), bitcoin.HazardAnyoneCanSpend},
		"on a test network":        {payTo("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"), bitcoin.HazardAnyoneCanSpend},
		"BIP-173's P2WSH":          {payTo("bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"), bitcoin.HazardAnyoneCanSpend},
		"BIP-350's P2TR":           {payTo("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"), bitcoin.HazardAnyoneCanSpend},
		"secret 1, P2PKH":          {payTo("1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"), bitcoin.HazardAnyoneCanSpend},
		"secret 1, uncompressed":   {payTo("1EHNa6Q4Jz2uvNExL497mE43ikXhwF6kZm"), bitcoin.HazardAnyoneCanSpend},
		"secret 1, P2SH-P2WPKH":    {payTo("3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN"), bitcoin.HazardAnyoneCanSpend},
		"point H":                  {append([]byte{txscript.OP_1, 32}, bitcointest.NUMS...), bitcoin.HazardBurn},
		"point H as BIP-86":        {append([]byte{txscript.OP_1, 32}, schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(pointH))...), bitcoin.HazardBurn},
		"point H with a tree":      {bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(b)).Script, ""},
		"P2WSH of OP_TRUE":         {bitcointest.P2WSH([]byte{txscript.OP_TRUE}).Script, bitcoin.HazardAnyoneCanSpend},
		"P2SH of OP_TRUE":          {bitcointest.P2SH([]byte{txscript.OP_TRUE}).Script, bitcoin.HazardAnyoneCanSpend},
	} {
		t.Run(name, func(t *testing.T) {
			for _, amount := range []uint64{0, 1_000} {
				raw := spoil(t, func(p *bitcointest.PSBT) {
					p.Outputs = append(p.Outputs, bitcointest.Output{Amount: amount, Script: c.script})
				})
				var want []string
				switch {
				case amount == 0 && c.script != nil && c.script[0] == txscript.OP_RETURN, amount == 0 && len(c.script) > 10_000:
				case amount == 0:
					want = []string{bitcoin.HazardNeverRelayed}
				case c.want != "":
					want = []string{c.want}
				}
				for _, key := range []keystore.PublicKey{a, {}} {
					got := wantHazards(t, raw, key, want...)
					if amount > 0 && len(got) == 1 && !pointsAt(got[0], 1) {
						t.Errorf("%+v does not point at output 1", got[0])
					}
				}
			}
		})
	}
}

// TestScriptsBesideOutputs: what the PSBT says about the script of an output counts, if it has the
// output's hash.
func TestScriptsBesideOutputs(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	fakeKey := slices.Concat([]byte{33, 2}, bytes.Repeat([]byte{0xff}, 32))
	hashLock := slices.Concat([]byte{txscript.OP_SHA256, 32}, make([]byte, 32), []byte{txscript.OP_EQUAL})
	x := a.XOnly()
	for name, c := range map[string]struct {
		code []byte
		want string
	}{
		"OP_NOP OP_TRUE":          {[]byte{txscript.OP_NOP, txscript.OP_TRUE}, bitcoin.HazardAnyoneCanSpend},
		"a hash lock":             {hashLock, bitcoin.HazardAnyoneCanSpend},
		"OP_RETURN":               {[]byte{txscript.OP_RETURN}, bitcoin.HazardBurn},
		"2 of 2, one no point":    {slices.Concat([]byte{txscript.OP_2, 33}, a.Bytes(), fakeKey, []byte{txscript.OP_2, txscript.OP_CHECKMULTISIG}), bitcoin.HazardBurn},
		"2 of 2":                  {bitcointest.Multisig(2, a, keyOf(t, secretOf(2)).PublicKey()), ""},
		"a hash lock and our key": {append(hashLock[:len(hashLock)-1:len(hashLock)-1], append([]byte{txscript.OP_EQUALVERIFY}, bitcointest.P2PK(a).Script...)...), ""},
	} {
		witness, redeem := byte(psbt.OutWitnessScript), byte(psbt.OutRedeemScript)
		p2wsh := bitcointest.P2WSH(c.code).Script
		for form, out := range map[string]bitcointest.Output{
			"P2WSH":      {Script: p2wsh, Records: []bitcointest.Record{{Key: []byte{witness}, Value: c.code}}},
			"P2SH":       {Script: bitcointest.P2SH(c.code).Script, Records: []bitcointest.Record{{Key: []byte{redeem}, Value: c.code}}},
			"P2SH-P2WSH": {Script: bitcointest.P2SH(p2wsh).Script, Records: []bitcointest.Record{{Key: []byte{redeem}, Value: p2wsh}, {Key: []byte{witness}, Value: c.code}}},
			"a leaf": {Script: bitcointest.Taproot(x[:], c.code).Script, Records: []bitcointest.Record{
				{Key: []byte{psbt.OutTapTree}, Value: append([]byte{0, 0xc0, byte(len(c.code))}, c.code...)}}},
		} {
			out.Amount = 1_000
			want := []string{c.want}
			if c.want == "" || form == "a leaf" && c.want == bitcoin.HazardBurn { // the key path is left
				want = nil
			}
			t.Run(name+" in "+form, func(t *testing.T) {
				wantHazards(t, spoil(t, func(p *bitcointest.PSBT) { p.Outputs = append(p.Outputs, out) }), a, want...)
			})
		}
	}
}

func pointsAt(hazard chains.Hazard, want int) bool {
	index, ok := hazard.Effect()
	return ok && index == want
}
