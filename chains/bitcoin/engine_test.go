package bitcoin_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// spends has every input type that three keys can sign, of which the first two suffice.
func spends(a, b, c keystore.PublicKey) map[string]bitcointest.Spend {
	multisig := bitcointest.Multisig(2, a, b, c)
	x := a.XOnly()
	return map[string]bitcointest.Spend{
		"P2PKH":                    bitcointest.P2PKH(a),
		"P2PK":                     bitcointest.P2PK(b),
		"multisig":                 {Script: multisig, Legacy: true},
		"P2SH multisig":            bitcointest.P2SH(multisig),
		"P2SH P2PKH":               bitcointest.P2SH(bitcointest.P2PKH(a).Script),
		"P2WPKH":                   bitcointest.P2WPKH(b),
		"P2SH-P2WPKH":              bitcointest.Nested(bitcointest.P2WPKH(a)),
		"P2WSH multisig":           bitcointest.P2WSH(multisig),
		"P2WSH P2PK":               bitcointest.P2WSH(bitcointest.P2PK(b).Script),
		"P2WSH P2PKH":              bitcointest.P2WSH(bitcointest.P2PKH(a).Script),
		"P2SH-P2WSH multisig":      bitcointest.Nested(bitcointest.P2WSH(multisig)),
		"P2TR BIP-86":              bitcointest.BIP86(a),
		"P2TR key path with tree":  bitcointest.Taproot(x[:], bitcointest.Leaf(b)),
		"P2TR BIP-86, no field":    {Script: bitcointest.BIP86(b).Script},
		"P2TR raw output key":      {Script: append([]byte{txscript.OP_1, 32}, x[:]...)},
		"P2TR leaf":                bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(a)),
		"P2TR one of two leaves":   bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(c), bitcointest.Leaf(b)),
		"P2TR leaf 2 of 3":         bitcointest.Taproot(bitcointest.NUMS, bitcointest.LeafMultisig(2, a, b, c)),
		"P2TR leaf 2 of 2, 1 of 1": bitcointest.Taproot(bitcointest.NUMS, bitcointest.LeafMultisig(2, a, b), bitcointest.Leaf(c)),
	}
}

// TestEveryType signs each input type alone, in both versions, with every
// sighash type, and runs it through btcd's script engine.
func TestEveryType(t *testing.T) {
	a, b, c := keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))
	for name, spend := range spends(a.PublicKey(), b.PublicKey(), c.PublicKey()) {
		for _, version := range []uint32{psbt.Version0, psbt.Version2} {
			for _, sighash := range []int64{-1, 0, 1, 2, 3, 0x81, 0x82, 0x83} {
				input := spend.Input(100_000, 1)
				if input.Sighash = sighash; sighash == 0 && input.Script[0] != txscript.OP_1 {
					continue // SIGHASH_DEFAULT is taproot's
				}
				raw := bitcointest.PSBT{
					Version: version, LockTime: 7, Inputs: []bitcointest.Input{input},
					Outputs: []bitcointest.Output{bitcointest.P2WPKH(a.PublicKey()).Output(90_000)},
				}.Encode()
				t.Run(name, func(t *testing.T) { signAll(t, raw, a, b) })
			}
		}
	}
}

// signAll signs with one key after the other, those that have something to sign, checks
// that nothing but signatures was added, and finalizes.
func signAll(t *testing.T, raw []byte, keys ...keystore.Key) []byte {
	t.Helper()
	signed := raw
	for _, key := range keys {
		next, err := sign(t.Context(), parse(t, signed), key.ID(), key)
		if err != nil {
			continue // Finalize fails if it was needed
		}
		wantOnlySignatures(t, signed, next)
		signed = next
	}
	final, err := bitcoin.Finalize(signed)
	if err != nil {
		t.Fatalf("%v\n%x", err, signed)
	}
	runEngine(t, raw, final)
	return signed
}

// runEngine runs a finalized transaction against what the PSBT says it spends.
func runEngine(t *testing.T, raw, final []byte) {
	t.Helper()
	packet := packetOf(t, raw)
	tx := decodeTx(t, final)
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for i := range packet.Inputs {
		amount, script, err := packet.Inputs[i].Previous.Output(packet.Inputs[i].OutputIndex)
		testenv.Must(t, err)
		spent.AddPrevOut(tx.TxIn[i].PreviousOutPoint, wire.NewTxOut(int64(amount), script))
	}
	hashes := txscript.NewTxSigHashes(tx, spent)
	for i, in := range tx.TxIn {
		out := spent.FetchPrevOutput(in.PreviousOutPoint)
		engine, err := txscript.NewEngine(out.PkScript, tx, i, txscript.StandardVerifyFlags, nil, hashes, out.Value, spent)
		testenv.Must(t, err)
		if err := engine.Execute(); err != nil {
			t.Errorf("input %d: %v", i, err)
		}
	}
}

func decodeTx(t *testing.T, final []byte) *wire.MsgTx {
	t.Helper()
	tx := new(wire.MsgTx)
	testenv.Must(t, tx.Deserialize(bytes.NewReader(final)))
	return tx
}

// wantOnlySignatures checks that the second PSBT is the first with signature
// records added, each before the first record whose key sorts after it.
func wantOnlySignatures(t *testing.T, before, after []byte) {
	t.Helper()
	was := packetOf(t, before)
	is := packetOf(t, after)
	for i := range is.Inputs {
		kept := is.Inputs[i].Records[:0:0]
		for _, record := range is.Inputs[i].Records {
			if !addedSignature(&was.Inputs[i].Map, record) {
				kept = append(kept, record)
			}
		}
		is.Inputs[i].Records = kept
	}
	if !bytes.Equal(is.Encode(), before) {
		t.Errorf("more than signatures changed:\nbefore %x\nafter  %x", before, after)
	}
}

func isSignature(keyType uint64) bool {
	return keyType == psbt.InPartialSig || keyType == psbt.InTapKeySig || keyType == psbt.InTapScriptSig
}

func addedSignature(was *psbt.Map, record psbt.Record) bool {
	return isSignature(record.Type) && !slices.ContainsFunc(was.Records, func(old psbt.Record) bool {
		return bytes.Equal(old.Key, record.Key)
	})
}

// TestMixed signs PSBTs of 1 to 100 inputs of all types mixed, with two keys in
// two calls.
func TestMixed(t *testing.T) {
	a, b, c := keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))
	all := spends(a.PublicKey(), b.PublicKey(), c.PublicKey())
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	random := rand.New(rand.NewPCG(174, 370))
	for _, count := range []int{1, 2, 3, 10, 33, 100} {
		packet := bitcointest.PSBT{Version: uint32(count%2) * 2, LockTime: 800_000}
		for i := range count {
			name := names[random.IntN(len(names))]
			packet.Inputs = append(packet.Inputs, all[name].Input(10_000+uint64(i), uint32(i)))
		}
		packet.Outputs = []bitcointest.Output{
			bitcointest.P2WPKH(a.PublicKey()).Output(5_000), {Script: bitcointest.Nulldata("mixed")},
		}
		signAll(t, packet.Encode(), a, b)
	}
}

// TestSignByAddress signs the inputs of one address and no other.
func TestSignByAddress(t *testing.T) {
	a, b, c := keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))
	packet := bitcointest.PSBT{Outputs: []bitcointest.Output{bitcointest.P2PKH(b.PublicKey()).Output(1000)}}
	var salt uint32
	for _, address := range (bitcoin.Chain{}).Addresses(a.PublicKey())[:4] {
		for _, spend := range []bitcointest.Spend{
			bitcointest.P2PKH(a.PublicKey()), bitcointest.Nested(bitcointest.P2WPKH(a.PublicKey())),
			bitcointest.P2WPKH(a.PublicKey()), bitcointest.BIP86(a.PublicKey()),
		} {
			salt++
			packet.Inputs = append(packet.Inputs, spend.Input(1000, salt))
		}
		raw := packet.Encode()
		signed := mustSign(t, parse(t, raw), address.Address, a)
		packet := packetOf(t, signed)
		count := 0
		for i := range packet.Inputs {
			if packet.Inputs[i].Find(psbt.InPartialSig) != nil || packet.Inputs[i].Find(psbt.InTapKeySig) != nil {
				count++
			}
		}
		if want := int(salt) / 4; count != want {
			t.Errorf("%s: %d inputs signed, want %d", address.Format, count, want)
		}
		_, err := sign(t.Context(), parse(t, raw), address.Address, c)
		wantNotSigner(t, err)
	}
}

// TestSaleToBuyerUnknown signs what marketplaces of ordinals ask of a seller: one input for a
// price that is more than it has, with SIGHASH_SINGLE|ANYONECANPAY. The buyer puts inputs in front,
// pays, and takes what is sold; whoever pays the seller less has no valid signature. With any other
// input that asks for all inputs, the same outputs can never be paid.
func TestSaleToBuyerUnknown(t *testing.T) {
	seller, buyer := keyOf(t, secretOf(1)), keyOf(t, secretOf(2))
	pub, paid := seller.PublicKey(), bitcointest.P2WPKH(buyer.PublicKey())
	const price = 5_000_000
	for name, spend := range map[string]bitcointest.Spend{
		"P2WPKH": bitcointest.P2WPKH(pub), "P2SH-P2WPKH": bitcointest.Nested(bitcointest.P2WPKH(pub)), "BIP-86": bitcointest.BIP86(pub),
	} {
		for _, version := range []uint32{psbt.Version0, psbt.Version2} {
			t.Run(fmt.Sprint(name, " version ", version), func(t *testing.T) {
				sold := spend.Input(10_000, 1)
				sold.Sighash = 0x83
				sale := bitcointest.PSBT{Version: version, Inputs: []bitcointest.Input{sold},
					Outputs: []bitcointest.Output{bitcointest.P2WPKH(pub).Output(price)}}
				tx := parse(t, sale.Encode())
				signing, err := chaintest.Ready(tx, seller.ID(), seller)
				testenv.Must(t, err)
				for _, effect := range signing.Effects() {
					if (effect.Kind == chains.KindFee) != (effect.Amount.Value == nil) {
						t.Errorf("only the fee is not known: %+v", effect)
					}
				}
				wantHazards(t, sale.Encode(), pub, bitcoin.HazardSighashSingle, bitcoin.HazardSighashAnyoneCanPay)
				if shown := fmt.Sprint(tx.Summary()); !strings.Contains(shown, "more than 0.0499 BTC") {
					t.Errorf("what is missing is not shown: %s", shown)
				}

				closed := sale
				closed.Inputs = append(closed.Inputs, paid.Input(20_000, 3))
				closed.Outputs = append(closed.Outputs, paid.Output(1_000))
				if err := refused(t, closed.Encode()); !strings.Contains(err.Error(), "SIGHASH_ANYONECANPAY") {
					t.Error(err)
				}

				for _, record := range packetOf(t, mustSign(t, tx, seller.ID(), seller)).Inputs[0].Records {
					if record.Type == psbt.InPartialSig || record.Type == psbt.InTapKeySig {
						sold.Records = append(sold.Records, bitcointest.Record{Key: record.Key, Value: record.Value})
					}
				}
				sale.Inputs = []bitcointest.Input{paid.Input(6_000_000, 2), sold}
				sale.Outputs = []bitcointest.Output{paid.Output(10_000), bitcointest.P2WPKH(pub).Output(price)}
				signAll(t, sale.Encode(), buyer)

				sale.Outputs[1].Amount--
				if err := refused(t, sale.Encode()); !strings.Contains(err.Error(), "signature") {
					t.Errorf("paid too little: %v", err)
				}
			})
		}
	}
}
