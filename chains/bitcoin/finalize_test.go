package bitcoin_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestFinalizeRefuses has PSBTs that are not fully signed, that this finalizer does not
// know how to satisfy, or whose scripts fail.
func TestFinalizeRefuses(t *testing.T) {
	a, b := keyOf(t, secretOf(1)), keyOf(t, secretOf(2))
	// A script with a hash lock that contains the key.
	locked := append([]byte{txscript.OP_SHA256, 1, 7, txscript.OP_EQUALVERIFY}, bitcointest.P2PK(a.PublicKey()).Script...)
	twoOfTwo := bitcointest.Multisig(2, a.PublicKey(), b.PublicKey())
	leaf := append([]byte{txscript.OP_1, txscript.OP_DROP}, bitcointest.Leaf(a.PublicKey())...)
	// OP_CHECKSIGADD takes three items: its key is missing.
	keyless := append(bitcointest.Leaf(a.PublicKey()), txscript.OP_CHECKSIGADD, txscript.OP_1, txscript.OP_NUMEQUAL)
	for _, c := range []struct {
		name    string
		spend   bitcointest.Spend
		sign    bool
		problem string
	}{
		{"P2WPKH unsigned", bitcointest.P2WPKH(a.PublicKey()), false, "the signature is missing"},
		{"P2PK unsigned", bitcointest.P2PK(a.PublicKey()), false, "is missing"},
		{"one of two signed", bitcointest.P2WSH(twoOfTwo), true, "1 signatures of its keys and needs 2"},
		{"a script of its own", bitcointest.P2WSH(locked), true, "this finalizer does not know its script"},
		{"taproot unsigned", bitcointest.BIP86(a.PublicKey()), false, "neither the key path nor a leaf"},
		{"a leaf of its own", bitcointest.Taproot(bitcointest.NUMS, leaf), true, "neither the key path nor a leaf"},
		{"a leaf without one of its keys", bitcointest.Taproot(bitcointest.NUMS, keyless), true, "neither the key path nor a leaf"},
		{"a leaf of two signed by one", bitcointest.Taproot(bitcointest.NUMS, bitcointest.LeafMultisig(2, a.PublicKey(), b.PublicKey())), true,
			"neither the key path nor a leaf"},
		{"no redeem script", bitcointest.Spend{Script: bitcointest.P2SH(twoOfTwo).Script}, false, "PSBT_IN_REDEEM_SCRIPT) is missing"},
	} {
		raw := spending(t, c.spend, nil)
		if c.sign {
			signed, err := sign(t.Context(), parse(t, raw), a.ID(), a)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			raw = signed
		}
		if _, err := bitcoin.Finalize(raw); err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", c.name, err, c.problem)
		}
	}
	if _, err := bitcoin.Finalize(nil); err == nil {
		t.Error("nothing was finalized")
	}
}

// TestFinalizeRuns checks that a final script in the PSBT is run, not trusted.
func TestFinalizeRuns(t *testing.T) {
	raw := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0].Records = []bitcointest.Record{{Key: []byte{psbt.InFinalScriptWitness}, Value: []byte{2, 1, 0xaa, 1, 0xbb}}}
	})
	if _, err := bitcoin.Finalize(raw); err == nil || !strings.Contains(err.Error(), "its script fails") {
		t.Errorf("%v", err)
	}
}

// TestFinalizeTwice checks that an input which was finalized elsewhere is kept.
func TestFinalizeTwice(t *testing.T) {
	key := keyOf(t, secretOf(1))
	signed := mustSign(t, parse(t, base(t).Encode()), key.ID(), key)
	want, err := bitcoin.Finalize(signed)
	testenv.Must(t, err)
	items := decodeTx(t, want).TxIn[0].Witness
	value := psbt.AppendCompactSize(nil, uint64(len(items)))
	for _, item := range items {
		value = append(psbt.AppendCompactSize(value, uint64(len(item))), item...)
	}
	final := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0].Records = []bitcointest.Record{{Key: []byte{psbt.InFinalScriptWitness}, Value: value}}
	})
	got, err := bitcoin.Finalize(final)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x %v", got, err)
	}
}
