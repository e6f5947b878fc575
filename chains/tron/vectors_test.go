package tron

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestVectors compares with what reference libraries have signed, byte for byte, from
// both forms of input.
func TestVectors(t *testing.T) {
	for _, name := range []string{"trx.json", "trc20.json"} {
		t.Run(name, func(t *testing.T) {
			var vector struct{ Address, PrivateKey, UnsignedTransaction, TxID, SignedTransaction string }
			chaintest.ReadJSON(t, filepath.Join("testdata", name), &vector)
			key := keyOf(t, vector.PrivateKey[2:])
			if got := (Chain{}).Addresses(key.PublicKey()); len(got) != 1 || got[0] != (chains.Address{Format: addressFormat, Address: vector.Address}) {
				t.Errorf("addresses %v, want %s", got, vector.Address)
			}
			checkSigned(t, key, vector.Address, vector.UnsignedTransaction, vector.TxID, vector.SignedTransaction)
		})
	}
}

// TestContract runs the contract of all chains, with a transaction of every type, and
// in both forms.
func TestContract(t *testing.T) {
	samples, key := map[string]chaintest.Sample{}, keyOf(t, ownerSecret)
	for _, v := range tronWebVectors(t) {
		raw := chaintest.Unhex(t, v.RawDataHex)
		samples[v.Type] = chaintest.Sample{Raw: raw, Key: key}
		samples["whole "+v.Type] = chaintest.Sample{Raw: wholeOf(raw), Key: key}
	}
	chaintest.Run(t, Chain{}, samples)
}

// TestTronWebVectors is TestVectors for every type that TronWeb can build.
func TestTronWebVectors(t *testing.T) {
	key := keyOf(t, ownerSecret)
	types := map[string]bool{}
	for i, v := range tronWebVectors(t) {
		types[v.Type] = true
		t.Run(fmt.Sprintf("%d/%s", i, v.Type), func(t *testing.T) {
			checkSigned(t, key, ownerHex, v.RawDataHex, v.TxID, v.Signed)
		})
	}
	for name := range handMade(t) {
		types[name] = true
	}
	for _, known := range contracts {
		if known != nil && !types[known.message.name] {
			t.Errorf("there is no vector of %s", known.message.name)
		}
	}
}

func checkSigned(t *testing.T, key keystore.Key, signWith, unsigned, id, signed string) {
	t.Helper()
	raw := chaintest.Unhex(t, unsigned)
	for form, input := range map[string][]byte{"raw": raw, "whole": wholeOf(raw)} {
		before := bytes.Clone(input)
		tx := parse(t, input)
		checkCanonical(t, tx)
		if got := hex.EncodeToString(tx.id[:]); got != id || tx.id != sha256.Sum256(raw) {
			t.Errorf("%s: id %s, want %s", form, got, id)
		}
		got, err := ready(t, tx, key, signWith).AppendSigned(t.Context(), nil)
		if err != nil || hex.EncodeToString(got) != signed {
			t.Errorf("%s: signed\n%x (%v), want\n%s", form, got, err, signed)
		}
		if !bytes.Equal(input, before) {
			t.Errorf("%s: signing changed the input", form)
		}
	}
}

// TestRawDataUnchanged finds the very input in the output, also where the free order of
// a map would let an encoder sort.
func TestRawDataUnchanged(t *testing.T) {
	descending := join(lengthField(1, chaintest.Unhex(t, ownerHex)),
		lengthField(2, join(varintField(1, 9), varintField(2, -1))),
		lengthField(2, join(varintField(1, 0), varintField(2, 0))))
	raw := rawOf(16, descending)
	signed, err := ready(t, parse(t, raw), keyOf(t, ownerSecret), "id").AppendSigned(t.Context(), nil)
	testenv.Must(t, err)
	if !bytes.HasPrefix(signed, lengthField(1, raw)) || len(signed) != len(lengthField(1, raw))+2+65 {
		t.Errorf("%x is not in %x", raw, signed)
	}
}

func TestReferenceBytesThatLookLikeARawData(t *testing.T) {
	f := newFrame(wrapped(1, "TransferContract", transfer(t)))
	f.blockBytes = []byte{0x0a, 2, 0x0a, 2}
	if tx := parse(t, f.bytes()); tx.whole {
		t.Error("taken for a whole Transaction")
	}
	if tx := parse(t, wholeOf(f.bytes())); !tx.whole {
		t.Error("not taken for a whole Transaction")
	}
}
