package bitcoin

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// TestLegacyDigest holds the digest over the bytes as they came against
// txscript's, in any order of inputs, with scripts on both sides of a boundary
// of compact sizes.
func TestLegacyDigest(t *testing.T) {
	for _, count := range []int{1, 2, 252, 253} {
		tx := &transaction{packet: &psbt.Packet{Version: psbt.Version2, TxVersion: 2, LockTime: 9}}
		tx.packet.Inputs = make([]psbt.Input, count)
		tx.packet.Outputs = []psbt.Output{{Amount: 5, Script: []byte{txscript.OP_1}}, {Amount: 6}}
		tx.inputs = make([]input, count)
		for i := range tx.inputs {
			tx.packet.Inputs[i] = psbt.Input{PreviousTxID: [32]byte{byte(i), 1}, OutputIndex: uint32(i), Sequence: uint32(i) * 3}
			code := bytes.Repeat([]byte{txscript.OP_NOP}, 250+i%8)
			tx.inputs[i] = input{Input: &tx.packet.Inputs[i], index: i, kind: p2sh, code: code, script: code}
		}
		tx.unsigned = tx.packet.Unsigned()
		tx.prepare()
		for _, i := range []int{count - 1, 0, count / 2, 0, count - 1} {
			in := &tx.inputs[i]
			want, err := txscript.CalcSignatureHash(in.code, txscript.SigHashAll, tx.tx, i)
			if err != nil {
				t.Fatal(err)
			}
			if got := tx.legacyDigest(in); !bytes.Equal(got[:], want) {
				t.Errorf("input %d of %d: %x, txscript has %x", i, count, got, want)
			}
		}
	}
}

// TestOutputKeysAreBounded: what is remembered is right, and not more than the
// bound.
func TestOutputKeysAreBounded(t *testing.T) {
	keys := new(outputKeys)
	internal := bytes.Repeat([]byte{0x50}, 32)
	for i := 0; ; i++ {
		if internal[31] = byte(i); len(keys.made) > 0 {
			break
		}
		if _, err := keys.tweak(internal, nil); err != nil && i > 200 {
			t.Fatal("no point found")
		}
	}
	internal[31]--
	first, err := keys.tweak(internal, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rooted, err := keys.tweak(internal, make([]byte, 32)); err != nil || rooted == first {
		t.Errorf("a root of zeros is taken for none: %v", err)
	}
	for i := range 2 * maxOutputKeys {
		keys.remember(tweakInput{root: [32]byte{byte(i), byte(i >> 8)}}, outputKey{})
	}
	if len(keys.made) != maxOutputKeys {
		t.Errorf("%d are remembered", len(keys.made))
	}
	if again, err := keys.tweak(internal, nil); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
}
