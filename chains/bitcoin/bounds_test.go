package bitcoin_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
)

// TestNullPrevout refuses an input that spends no transaction, as only a coinbase does.
// An audit found that these bytes were signed.
func TestNullPrevout(t *testing.T) {
	err := refused(t, chaintest.Unhex(t, "70736274ff01005202000000010000000000000000000000000000000000000000000000000000000000000000ffffffff00ffffffff01f0b9f5050000000016001492a01e34e09d999339ee9f2e4991e1c2571e7e95000000000001012b00e1f50500000000225120624fff658880e6c942efcc527d29597f16e576137b88b3f267ac54685c5f582d0000"))
	if err.Field != "input 0" {
		t.Error(err)
	}
}

// TestAnchorIsSpent checks that a pay-to-anchor input needs no signature and is
// finalized with an empty witness (BIP-433).
func TestAnchorIsSpent(t *testing.T) {
	key := keyOf(t, secretOf(1))
	anchor := bitcointest.Spend{Script: []byte{txscript.OP_1, 2, 0x4e, 0x73}}
	raw := spoil(t, func(p *bitcointest.PSBT) { p.Inputs = append(p.Inputs, anchor.Input(240, 9)) })
	wantHazards(t, raw, key.PublicKey())
	signAll(t, raw, key)
}

// TestForeignSignaturesAreOfTheScript refuses another party's signature by a key that
// is not in the script, so that a request cannot cause an unbounded number of digests
// and verifications.
func TestForeignSignaturesAreOfTheScript(t *testing.T) {
	a, b := keyOf(t, secretOf(1)), keyOf(t, secretOf(2))
	for name, spend := range map[string]bitcointest.Spend{
		"P2PKH": bitcointest.P2PKH(a.PublicKey()), "P2WPKH": bitcointest.P2WPKH(a.PublicKey()),
		"P2WSH": bitcointest.P2WSH(bitcointest.P2PK(a.PublicKey()).Script),
		"leaf":  bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(a.PublicKey())),
	} {
		raw := spending(t, spend, nil)
		signed := mustSign(t, parse(t, raw), a.ID(), a)
		record := firstSignature(t, signed)
		ours, theirs := a.PublicKey().Bytes(), b.PublicKey().Bytes()
		if record.Type == psbt.InTapScriptSig {
			ours, theirs = ours[1:], theirs[1:]
		}
		moved := bytes.Replace(signed, slices.Concat([]byte{byte(record.Type)}, ours), slices.Concat([]byte{byte(record.Type)}, theirs), 1)
		if err := refused(t, moved); !slices.Contains([]string{"input 0 PSBT_IN_PARTIAL_SIG", "input 0 PSBT_IN_TAP_SCRIPT_SIG"}, err.Field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func firstSignature(t *testing.T, raw []byte) psbt.Record {
	t.Helper()
	for _, record := range parse(t, raw).Packet().Inputs[0].Records {
		if isSignature(record.Type) {
			return record
		}
	}
	t.Fatal("no signature")
	return psbt.Record{}
}

// TestLookUpsAreBounded refuses the address of a script with more keys than the
// keystore should be asked for, and a witness script that cannot be run.
func TestLookUpsAreBounded(t *testing.T) {
	keys := func(count int) (script []byte) {
		for i := range count {
			key := slices.Concat([]byte{32}, bytes.Repeat([]byte{7}, 28), binary.BigEndian.AppendUint32(nil, uint32(i)))
			script = append(append(script, key...), txscript.OP_DROP)
		}
		return append(script, txscript.OP_TRUE)
	}
	for count, want := range map[int]bool{253: true, 254: false} {
		spend := bitcointest.Taproot(bitcointest.NUMS, keys(count))
		tx := parse(t, spending(t, spend, nil))
		address, _ := bitcoin.AddressOf(spend.Script, bitcoin.Mainnet)
		_, err := locate(tx, address)
		if ok := err == nil; ok != want {
			t.Errorf("%d keys, each with two parities: %v", count, err)
		}
	}
	for size, want := range map[int]bool{10_000: true, 10_001: false} {
		raw := spending(t, bitcointest.P2WSH(bytes.Repeat([]byte{txscript.OP_NOP}, size)), nil)
		if _, err := bitcoin.New(bitcoin.Limits{}).Parse(raw); (err == nil) != want {
			t.Errorf("witness script of %d bytes: %v", size, err)
		}
	}
}
