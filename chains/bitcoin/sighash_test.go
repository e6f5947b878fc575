package bitcoin

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// unsignedWith returns a transaction without checks, with inputs of one kind.
func unsignedWith(kind scriptType, inputs int, code func(index int) []byte) *transaction {
	tx := &transaction{unsignedTx: unsignedTx{packet: &psbt.Packet{Version: psbt.Version2, TxVersion: 2, LockTime: 9}}}
	tx.packet.Inputs = make([]psbt.Input, inputs)
	tx.packet.Outputs = []psbt.Output{{Amount: 5, Script: []byte{txscript.OP_1}}, {Amount: 6}}
	tx.inputs = make([]input, inputs)
	for i := range tx.inputs {
		tx.packet.Inputs[i] = psbt.Input{PreviousTxID: [32]byte{byte(i), 1}, OutputIndex: uint32(i), Sequence: uint32(i) * 3}
		tx.inputs[i] = input{Input: &tx.packet.Inputs[i], index: i, kind: kind, code: code(i), amount: uint64(i) + 7}
	}
	tx.raw = tx.packet.Unsigned()
	return tx
}

// TestLegacyDigest compares the digest over the bytes that came in with txscript's,
// in any order of inputs, with scripts on both sides of a boundary of compact sizes.
func TestLegacyDigest(t *testing.T) {
	for _, count := range []int{1, 2, 252, 253} {
		tx := unsignedWith(p2sh, count, func(i int) []byte { return bytes.Repeat([]byte{txscript.OP_NOP}, 250+i%8) })
		tx.prepare()
		for _, i := range []int{count - 1, 0, count / 2, 0, count - 1} {
			in := &tx.inputs[i]
			want, err := txscript.CalcSignatureHash(in.code, txscript.SigHashAll, tx.tx, i)
			testenv.Must(t, err)
			if got := tx.legacyDigest(in); !bytes.Equal(got[:], want) {
				t.Errorf("input %d of %d: %x, txscript has %x", i, count, got, want)
			}
		}
	}
}

// TestSegwitDigest compares the digest of BIP-143 with txscript's, for every sighash
// type, with and without an output of the input's number.
func TestSegwitDigest(t *testing.T) {
	keyHash := append([]byte{txscript.OP_0, 20}, make([]byte, 20)...)
	for kind, code := range map[scriptType]func(int) []byte{
		p2wpkh: func(int) []byte { return keyHash },
		p2wsh:  func(i int) []byte { return bytes.Repeat([]byte{txscript.OP_NOP}, 250+i%8) },
	} {
		for _, count := range []int{1, 2, 252, 253} {
			tx := unsignedWith(kind, count, code)
			tx.prepare()
			for _, i := range []int{0, 1 % count, 2 % count, count - 1} {
				for _, sighash := range []byte{1, 2, 3, 0x81, 0x82, 0x83} {
					in := &tx.inputs[i]
					want, err := txscript.CalcWitnessSigHash(in.code, tx.hashes, txscript.SigHashType(sighash), tx.tx, i, int64(in.amount))
					testenv.Must(t, err)
					if got := tx.segwitDigest(in, sighash); !bytes.Equal(got[:], want) {
						t.Errorf("%v input %d of %d, sighash %#x: %x, txscript has %x", kind, i, count, sighash, got, want)
					}
				}
			}
		}
	}
}
