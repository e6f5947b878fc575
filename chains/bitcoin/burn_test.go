package bitcoin_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
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
	payTo := func(address string) []byte {
		script, err := bitcoin.ScriptOf(address)
		if err != nil {
			t.Fatal(err)
		}
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

func pointsAt(hazard chains.Hazard, want int) bool {
	index, ok := hazard.Effect()
	return ok && index == want
}
