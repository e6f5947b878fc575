package interop

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// askBitcoin has a library of bitcoin.mjs work on a PSBT.
func askBitcoin(t *testing.T, op, lib string, raw, secret []byte) []byte {
	t.Helper()
	var answer struct{ Hex string }
	startPeer(t, "bitcoin.mjs").ask(t, map[string]string{
		"op": op, "lib": lib, "psbt": hex.EncodeToString(raw), "privateKey": hex.EncodeToString(secret),
	}, &answer)
	return testenv.Hex(t, answer.Hex)
}

func bitcoinSecret(b byte) []byte { return bytes.Repeat([]byte{b}, keystore.SecretSize) }

func bitcoinKey(t *testing.T, secret []byte) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, secret)
}

// bitcoinCase is a type of input, and how many of two keys must sign it.
type bitcoinCase struct {
	name  string
	spend bitcointest.Spend
	keys  int
}

func bitcoinCases(a, b keystore.PublicKey) []bitcoinCase {
	x := a.XOnly()
	one, two := bitcointest.Multisig(1, a, b), bitcointest.Multisig(2, a, b)
	return []bitcoinCase{
		{"P2PKH", bitcointest.P2PKH(a), 1},
		{"P2WPKH", bitcointest.P2WPKH(a), 1},
		{"P2SH-P2WPKH", bitcointest.Nested(bitcointest.P2WPKH(a)), 1},
		{"P2SH 1 of 2", bitcointest.P2SH(one), 1},
		{"P2SH 2 of 2", bitcointest.P2SH(two), 2},
		{"P2WSH 1 of 2", bitcointest.P2WSH(one), 1},
		{"P2WSH 2 of 2", bitcointest.P2WSH(two), 2},
		{"P2SH-P2WSH 2 of 2", bitcointest.Nested(bitcointest.P2WSH(two)), 2},
		{"P2WSH P2PK", bitcointest.P2WSH(bitcointest.P2PK(a).Script), 1},
		{"P2TR", bitcointest.BIP86(a), 1},
		{"P2TR with tree", bitcointest.Taproot(x[:], bitcointest.Leaf(b)), 1},
		{"P2TR leaf", bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(a)), 1},
		{"P2TR one of two leaves", bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(b), bitcointest.Leaf(a)), 1},
	}
}

// TestBitcoinLibraries checks that both libraries sign what we sign, and finalize what we
// sign to our bytes, in both versions of PSBT.
func TestBitcoinLibraries(t *testing.T) {
	startPeer(t, "bitcoin.mjs") // or skip the whole test
	a, b := bitcoinKey(t, bitcoinSecret(1)), bitcoinKey(t, bitcoinSecret(2))
	var counts testenv.Outcomes
	for _, c := range bitcoinCases(a.PublicKey(), b.PublicKey()) {
		for _, count := range []int{1, 3} {
			made := bitcointest.PSBT{Outputs: []bitcointest.Output{bitcointest.P2WPKH(b.PublicKey()).Output(9_000)}}
			for i := range count {
				made.Inputs = append(made.Inputs, c.spend.Input(10_000, uint32(i)))
			}
			t.Run(c.name, func(t *testing.T) {
				version0 := made.Encode()
				final := compareLibraries(t, version0, []string{"bitcoinjs", "scure"}, a, b, c.keys)
				version2 := askBitcoin(t, "convert", "scure", version0, nil)
				signing := readyBitcoin(t, version2, a)
				counts.Add(isBlind(signing.Effects()), len(signing.Hazards()))
				if again := compareLibraries(t, version2, []string{"scure"}, a, b, c.keys); !bytes.Equal(again, final) {
					t.Errorf("version 2 gives another transaction:\n%x\n%x", again, final)
				}
			})
		}
	}
	testenv.ClientRow(t, "@scure/btc-signer (PSBT version 2)", counts)
}

// compareLibraries compares our signatures with those of the libraries, finalizes ours by
// all of them, and returns the network transaction.
func compareLibraries(t *testing.T, raw []byte, libs []string, a, b keystore.Key, keys int) []byte {
	t.Helper()
	ours := signBitcoin(t, raw, a)
	for _, lib := range libs {
		theirs := askBitcoin(t, "sign", lib, raw, bitcoinSecret(1))
		compareBitcoinSignatures(t, lib, ours, theirs)
	}
	if keys == 2 {
		ours = signBitcoin(t, ours, b)
	}
	final, err := bitcoin.Finalize(ours)
	testenv.Must(t, err)
	for _, lib := range libs {
		if got := askBitcoin(t, "finalize", lib, ours, nil); !bytes.Equal(got, final) {
			t.Errorf("%s finalizes to\n%x, we to\n%x", lib, got, final)
		}
	}
	return final
}

func signBitcoin(t *testing.T, raw []byte, key keystore.Key) []byte {
	t.Helper()
	signed, err := readyBitcoin(t, raw, key).AppendSigned(t.Context(), nil)
	testenv.Must(t, err)
	return signed
}

func readyBitcoin(t *testing.T, raw []byte, key keystore.Key) chains.Signing {
	t.Helper()
	tx, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
	if err != nil {
		t.Fatalf("%v\n%x", err, raw)
	}
	request, err := tx.Request(key.ID())
	testenv.Must(t, err)
	signing, err := request.With(key)
	testenv.Must(t, err)
	return signing
}

// compareBitcoinSignatures requires that theirs has each of our signature records. scure
// counts its attempts at a low r from zero, Bitcoin Core from one: its signature is
// compared if it is low at once, and otherwise ours must be shorter.
func compareBitcoinSignatures(t *testing.T, lib string, ours, theirs []byte) {
	t.Helper()
	got, err := psbt.Read(ours)
	testenv.Must(t, err)
	want, err := psbt.Read(theirs)
	testenv.Must(t, err)
	for i := range got.Inputs {
		signatures := 0
		for _, record := range got.Inputs[i].Records {
			switch record.Type {
			case psbt.InPartialSig, psbt.InTapKeySig, psbt.InTapScriptSig:
				signatures++
				if !hasBitcoinRecord(&want.Inputs[i].Map, record) && (lib != "scure" || !isShorter(&want.Inputs[i].Map, record)) {
					t.Errorf("%s: input %d: no %x → %x", lib, i, record.Key, record.Value)
				}
			}
		}
		if signatures != 1 {
			t.Errorf("input %d has %d signatures", i, signatures)
		}
	}
}

// isShorter reports whether the map has a longer signature of the same key.
func isShorter(m *psbt.Map, record psbt.Record) bool {
	for other := range m.All(record.Type) {
		if bytes.Equal(other.Key, record.Key) && len(other.Value) > len(record.Value) {
			return record.Type == psbt.InPartialSig
		}
	}
	return false
}

func hasBitcoinRecord(m *psbt.Map, record psbt.Record) bool {
	for other := range m.All(record.Type) {
		if bytes.Equal(other.Key, record.Key) && bytes.Equal(other.Value, record.Value) {
			return true
		}
	}
	return false
}
