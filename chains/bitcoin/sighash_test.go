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
