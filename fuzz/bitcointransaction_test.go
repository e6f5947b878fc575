package fuzz

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// FuzzBitcoinTransaction reads the transactions that inputs spend and checks that
// btcd writes what is accepted to the same bytes, with the same id and outputs.
func FuzzBitcoinTransaction(f *testing.F) {
	addTransactions(f, bitcoinKey(f).PublicKey())
	f.Fuzz(func(t *testing.T, raw []byte) {
		ours, err := psbt.ReadTransaction(raw, 0)
		if err != nil {
			return
		}
		var theirs wire.MsgTx
		if err := theirs.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatalf("%x: btcd says %v", raw, err)
		}
		var again bytes.Buffer
		if err := theirs.Serialize(&again); err != nil || !bytes.Equal(again.Bytes(), raw) {
			t.Fatalf("%x is written again as %x, %v", raw, again.Bytes(), err)
		}
		if theirs.TxHash() != ours.ID() {
			t.Fatalf("%x: id %x, btcd says %v", raw, ours.ID(), theirs.TxHash())
		}
		for i, output := range theirs.TxOut {
			amount, script, err := ours.Output(uint32(i))
			if err != nil || int64(amount) != output.Value || !bytes.Equal(script, output.PkScript) {
				t.Fatalf("%x: output %d is of %d for %x, btcd says %+v", raw, i, amount, script, output)
			}
		}
		if _, _, err := ours.Output(uint32(len(theirs.TxOut))); err == nil {
			t.Fatalf("%x: an output more than btcd has", raw)
		}
	})
}

// addTransactions adds transactions with and without witnesses.
func addTransactions(f *testing.F, pub keystore.PublicKey) {
	f.Helper()
	for _, spend := range []bitcointest.Spend{bitcointest.P2PKH(pub), bitcointest.BIP86(pub)} {
		in := spend.Input(10_000, 1)
		f.Add(in.Previous())
		f.Add(bitcointest.PSBT{Inputs: []bitcointest.Input{in, in}, Outputs: []bitcointest.Output{spend.Output(9_000)}}.Unsigned())
	}
}
