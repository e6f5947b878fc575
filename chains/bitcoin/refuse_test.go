package bitcoin_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
)

// refusal is a PSBT and its refusal: the field, a part of the problem, and the offset.
type refusal struct {
	name           string
	raw            []byte
	field, problem string
	at             int
}

// base returns a valid PSBT of one P2WPKH input and one output, to be changed.
func base(t testing.TB) bitcointest.PSBT {
	pub := keyOf(t, secretOf(1)).PublicKey()
	return bitcointest.PSBT{
		Inputs:  []bitcointest.Input{bitcointest.P2WPKH(pub).Input(100_000, 1)},
		Outputs: []bitcointest.Output{bitcointest.P2WPKH(pub).Output(90_000)},
	}
}

// spoil returns the base PSBT after a change.
func spoil(t testing.TB, change func(p *bitcointest.PSBT)) []byte {
	p := base(t)
	change(&p)
	return p.Encode()
}

// with adds a record to the first input.
func with(t testing.TB, key byte, data, value []byte) []byte {
	return spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0].Records = append(p.Inputs[0].Records, bitcointest.Record{Key: append([]byte{key}, data...), Value: value})
	})
}

// spending returns the base PSBT with another first input.
func spending(t testing.TB, spend bitcointest.Spend, change func(in *bitcointest.Input)) []byte {
	return spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0] = spend.Input(100_000, 1)
		if change != nil {
			change(&p.Inputs[0])
		}
	})
}

// valueAt returns the offset of the value of the nth input's record of a type.
func valueAt(t testing.TB, raw []byte, input int, keyType uint64) int {
	t.Helper()
	packet := packetOf(t, raw)
	return packet.Inputs[input].Find(keyType).ValueOffset()
}

func runRefusals(t *testing.T, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := refused(t, c.raw)
			if err.Field != c.field || err.Offset != c.at || !strings.Contains(err.Problem, c.problem) {
				t.Errorf("got  %v\nwant %s at byte %d: …%s…", err, c.field, c.at, c.problem)
			}
			if !errors.Is(err, chains.ErrMalformed) {
				t.Errorf("%v is not ErrMalformed", err)
			}
		})
	}
}

// TestRefusedFormat has bytes that are not one PSBT in its one encoding.
func TestRefusedFormat(t *testing.T) {
	sound := base(t).Encode()
	unsigned := base(t).Unsigned()
	second := bitcointest.Record{Key: []byte{psbt.GlobalUnsignedTx}, Value: unsigned}
	scriptSig := slices.Insert(bytes.Clone(unsigned), 42, 0x51)
	scriptSig[41] = 1
	globalLength := []byte{0xfd, sound[7], 0}
	runRefusals(t, []refusal{
		{"empty", nil, "", "not a PSBT", 0},
		{"bare transaction", unsigned, "", "bare transaction: give it as a PSBT", 0},
		{"base64", []byte("cHNidP8BAFI"), "", "base64", 0},
		{"trailing byte", append(bytes.Clone(sound), 0), "end", "1 bytes left over", len(sound)},
		{"trailing map", append(bytes.Clone(sound), 1, 9, 0, 0), "end", "4 bytes left over", len(sound)},
		{"missing map", sound[:len(sound)-1], "output 0", "1 bytes wanted, 0 left", len(sound) - 1},
		{"second unsigned transaction", spoil(t, func(p *bitcointest.PSBT) { p.Global = append(p.Global, second) }),
			"global map", "stands twice", 5 + 3 + len(unsigned)},
		{"duplicate key", spoil(t, func(p *bitcointest.PSBT) {
			p.Inputs[0].Records = []bitcointest.Record{{Key: []byte{0xee, 1}}, {Key: []byte{0xee, 1}, Value: []byte{1}}}
		}), "input 0", "key ee01 stands twice", len(sound) - 2 + 4},
		{"script in the unsigned transaction", replaceUnsigned(sound, unsigned, scriptSig),
			"PSBT_GLOBAL_UNSIGNED_TX", "input 0 has a script", 8 + 41},
	})
	wantRefused(t, "witness in the unsigned transaction", replaceUnsigned(sound, unsigned,
		slices.Concat(unsigned[:4], []byte{0, 1}, unsigned[4:len(unsigned)-4], []byte{1, 1, 0xaa}, unsigned[len(unsigned)-4:])),
		"PSBT_GLOBAL_UNSIGNED_TX")
	wantRefused(t, "long compact size", slices.Replace(bytes.Clone(sound), 7, 8, globalLength...), "global map")
}

func wantRefused(t *testing.T, name string, raw []byte, field string) {
	t.Helper()
	if err := refused(t, raw); err.Field != field || err.Offset < 5 {
		t.Errorf("%s: %v, want field %s", name, err, field)
	}
}

// replaceUnsigned puts another transaction into the global map.
func replaceUnsigned(sound, was, is []byte) []byte {
	out := append(bytes.Clone(sound[:7]), byte(len(is)))
	return append(append(out, is...), sound[8+len(was):]...)
}

// TestRefusedTransaction has what no transaction can be.
func TestRefusedTransaction(t *testing.T) {
	two := spoil(t, func(p *bitcointest.PSBT) { p.Inputs = append(p.Inputs, p.Inputs[0]) })
	noInputs := spoil(t, func(p *bitcointest.PSBT) { p.Inputs = nil })
	noOutputs := spoil(t, func(p *bitcointest.PSBT) { p.Outputs = nil })
	const firstOutput = 8 + 4 + 1 + 41 + 1
	over := func(amounts ...uint64) []byte {
		return spoil(t, func(p *bitcointest.PSBT) {
			p.Outputs = nil
			for _, amount := range amounts {
				p.Outputs = append(p.Outputs, bitcointest.Output{Amount: amount, Script: []byte{0x51}})
			}
		})
	}
	rich := spoil(t, func(p *bitcointest.PSBT) { p.Inputs[0].Amount = bitcoin.MaxMoney + 1 })
	runRefusals(t, []refusal{
		{"no inputs", noInputs, "inputs", "none", 8 + int(noInputs[7])},
		{"no outputs", noOutputs, "outputs", "none", 8 + int(noOutputs[7])},
		{"input twice", two, "input 1", "same output as input 0", 8 + 4 + 1 + 41},
		{"output over 21 million", over(bitcoin.MaxMoney + 1), "output 0 amount", "21 million", firstOutput},
		{"output over 63 bits", over(1 << 63), "output 0 amount", "21 million", firstOutput},
		{"outputs that overflow", over(1, 1<<64-1), "output 1 amount", "21 million", firstOutput + 10},
		{"outputs over 21 million together", over(1, bitcoin.MaxMoney), "output 1 amount", "21 million", firstOutput + 10},
		{"outputs over inputs", over(100_001), "outputs", "more than the 100000 of the inputs", firstOutput},
		{"input over 21 million", rich, "input 0 amount", "21 million", 8 + 5},
	})
}

// TestRefusedUTXO has inputs that do not say what they spend, contradict themselves, or
// lie.
func TestRefusedUTXO(t *testing.T) {
	pub := keyOf(t, secretOf(1)).PublicKey()
	missing := spoil(t, func(p *bitcointest.PSBT) { p.Inputs[0].Proof, p.Inputs[0].Claim = false, false })
	other := spoil(t, func(p *bitcointest.PSBT) {
		lie := p.Inputs[0]
		lie.Amount++
		p.Inputs[0].Proof = false
		p.Inputs[0].Records = []bitcointest.Record{{Key: []byte{psbt.InNonWitnessUTXO}, Value: lie.Previous()}}
	})
	index := spoil(t, func(*bitcointest.PSBT) {})
	index[8+5+32] = 2 // outputs of the transaction that is spent: 2
	claim := spoil(t, func(p *bitcointest.PSBT) { p.Inputs[0].Claimed = 99_999 })
	script := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0].Claim = false
		p.Inputs[0].Records = []bitcointest.Record{{
			Key: []byte{psbt.InWitnessUTXO}, Value: bitcointest.AppendTxOut(nil, 100_000, bitcointest.P2WPKH(keyOf(t, secretOf(2)).PublicKey()).Script),
		}}
	})
	legacyClaim := spending(t, bitcointest.P2PKH(pub), func(in *bitcointest.Input) { in.Proof, in.Claim = false, true })
	legacyBoth := spending(t, bitcointest.P2PKH(pub), func(in *bitcointest.Input) { in.Claim = true })
	runRefusals(t, []refusal{
		{"missing", missing, "input 0 PSBT_IN_WITNESS_UTXO", "missing", len(missing) - 2},
		{"another transaction", other, "input 0 PSBT_IN_NON_WITNESS_UTXO", "but the input spends an output of", valueAt(t, other, 0, psbt.InNonWitnessUTXO)},
		{"index out of range", index, "input 0 PSBT_IN_NON_WITNESS_UTXO", "output 2 is spent, the transaction has 2", valueAt(t, index, 0, psbt.InNonWitnessUTXO)},
		{"amounts differ", claim, "input 0 PSBT_IN_WITNESS_UTXO", "amount 99999, but the spent transaction has 100000", valueAt(t, claim, 0, psbt.InWitnessUTXO)},
		{"scripts differ", script, "input 0 PSBT_IN_WITNESS_UTXO", "the spent transaction has", valueAt(t, script, 0, psbt.InWitnessUTXO)},
		{"legacy with a claim alone", legacyClaim, "input 0 PSBT_IN_WITNESS_UTXO", "no witness output but P2PKH", valueAt(t, legacyClaim, 0, psbt.InWitnessUTXO)},
	})
	parse(t, legacyBoth) // they agree
}

// TestRefusedScripts has scripts that the output is not locked to.
func TestRefusedScripts(t *testing.T) {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	swap := func(spend bitcointest.Spend, keyType byte, value []byte) []byte {
		return spending(t, spend, func(in *bitcointest.Input) {
			in.Records = slices.Clone(in.Records)
			for i := range in.Records {
				if in.Records[i].Key[0] == keyType {
					in.Records[i].Value = value
				}
			}
		})
	}
	multisig := bitcointest.Multisig(1, a, b)
	redeem := swap(bitcointest.P2SH(multisig), psbt.InRedeemScript, bitcointest.Multisig(1, b, a))
	nested := swap(bitcointest.Nested(bitcointest.P2WPKH(a)), psbt.InRedeemScript, bitcointest.P2WPKH(b).Script)
	witness := swap(bitcointest.P2WSH(multisig), psbt.InWitnessScript, bitcointest.Multisig(1, b, a))
	inner := swap(bitcointest.Nested(bitcointest.P2WSH(multisig)), psbt.InWitnessScript, bitcointest.Multisig(1, b, a))
	long := spending(t, bitcointest.P2SH(bytes.Repeat([]byte{txscript.OP_NOP}, 521)), nil)
	stray := with(t, psbt.InRedeemScript, nil, multisig)
	strayWitness := with(t, psbt.InWitnessScript, nil, multisig)
	strayTap := with(t, psbt.InTapInternalKey, nil, bitcointest.NUMS)
	packet := packetOf(t, strayTap)
	runRefusals(t, []refusal{
		{"redeem script", redeem, "input 0 PSBT_IN_REDEEM_SCRIPT", "does not hash", valueAt(t, redeem, 0, psbt.InRedeemScript)},
		{"redeem script of nested", nested, "input 0 PSBT_IN_REDEEM_SCRIPT", "does not hash", valueAt(t, nested, 0, psbt.InRedeemScript)},
		{"witness script", witness, "input 0 PSBT_IN_WITNESS_SCRIPT", "does not hash", valueAt(t, witness, 0, psbt.InWitnessScript)},
		{"witness script of nested", inner, "input 0 PSBT_IN_WITNESS_SCRIPT", "does not hash", valueAt(t, inner, 0, psbt.InWitnessScript)},
		{"redeem script too long", long, "input 0 PSBT_IN_REDEEM_SCRIPT", "521 bytes, at most 520", valueAt(t, long, 0, psbt.InRedeemScript)},
		{"redeem script at P2WPKH", stray, "input 0 PSBT_IN_REDEEM_SCRIPT", "not P2SH but P2WPKH", valueAt(t, stray, 0, psbt.InRedeemScript)},
		{"witness script at P2WPKH", strayWitness, "input 0 PSBT_IN_WITNESS_SCRIPT", "not P2WSH but P2WPKH", valueAt(t, strayWitness, 0, psbt.InWitnessScript)},
		{"taproot field at P2WPKH", strayTap, "input 0 taproot field", "not P2TR but P2WPKH", packet.Inputs[0].Find(psbt.InTapInternalKey).Offset},
	})
}
