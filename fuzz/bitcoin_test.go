package fuzz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	oracle "github.com/btcsuite/btcd/psbt/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// bitcoinSeeds adds the vectors of the chain package, and a PSBT of each version with
// inputs that the test key can sign.
func bitcoinSeeds(f *testing.F, pub keystore.PublicKey) {
	f.Helper()
	for _, raw := range transactionsOf(f, "bitcoin") {
		f.Add(raw)
	}
	x := pub.XOnly()
	multisig := bitcointest.Multisig(1, pub, pub)
	for _, version := range []uint32{psbt.Version0, psbt.Version2} {
		for _, spend := range []bitcointest.Spend{
			bitcointest.P2PKH(pub), bitcointest.P2WPKH(pub), bitcointest.P2SH(multisig), bitcointest.Nested(bitcointest.P2WSH(multisig)),
			bitcointest.BIP86(pub), bitcointest.Taproot(x[:], bitcointest.Leaf(pub)), bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(pub), multisig),
		} {
			f.Add(bitcointest.PSBT{
				Version: version, Inputs: []bitcointest.Input{spend.Input(10_000, 1)}, Outputs: []bitcointest.Output{spend.Output(9_000)},
			}.Encode())
		}
	}
}

// bitcoinKey is the key of the vectors.
func bitcoinKey(f *testing.F) keystore.Key {
	f.Helper()
	return chaintest.Key(f, keystore.CurveSecp256k1, testenv.Hex(f, ethereumSecret))
}

// FuzzBitcoinPSBT checks that the reader does not panic, that what it accepts is
// written back unchanged, and that its errors name a field or an offset.
func FuzzBitcoinPSBT(f *testing.F) {
	bitcoinSeeds(f, bitcoinKey(f).PublicKey())
	f.Fuzz(func(t *testing.T, raw []byte) {
		packet, err := psbt.Read(raw)
		if err != nil {
			if parse, ok := errors.AsType[*chains.ParseError](err); !ok || parse.Problem == "" || parse.Offset > len(raw) {
				t.Fatalf("%#v", err)
			}
			return
		}
		checkPSBT(t, packet, raw)
	})
}

// compareWithBTCD checks that btcd, if it accepts the PSBT, reads the same
// transaction, amounts and scripts.
func compareWithBTCD(t *testing.T, packet *psbt.Packet) {
	theirs, err := oracle.NewFromRawBytes(bytes.NewReader(packet.Raw), false)
	if err != nil {
		return // it wants more than the format does, such as a P2WPKH script in a witness UTXO
	}
	var unsigned bytes.Buffer
	testenv.Must(t, theirs.UnsignedTx.SerializeNoWitness(&unsigned))
	if !bytes.Equal(unsigned.Bytes(), packet.Unsigned()) {
		t.Fatal("btcd reads another transaction")
	}
	for i := range packet.Inputs {
		if previous := theirs.Inputs[i].NonWitnessUtxo; previous != nil && previous.TxHash() != packet.Inputs[i].Previous.ID() {
			t.Fatalf("input %d: btcd computes another transaction id", i)
		}
		compareInputWithBTCD(t, &packet.Inputs[i], &theirs.Inputs[i])
	}
}

func compareInputWithBTCD(t *testing.T, ours *psbt.Input, theirs *oracle.PInput) {
	t.Helper()
	if !bytes.Equal(ours.Value(psbt.InRedeemScript), theirs.RedeemScript) || !bytes.Equal(ours.Value(psbt.InWitnessScript), theirs.WitnessScript) {
		t.Fatal("btcd reads another script")
	}
	if sighash := ours.Value(psbt.InSighashType); sighash != nil && binary.LittleEndian.Uint32(sighash) != uint32(theirs.SighashType) {
		t.Fatalf("sighash type %x, btcd reads %x", sighash, theirs.SighashType)
	}
	if theirs.WitnessUtxo == nil {
		return
	}
	amount, script, err := psbt.ReadTxOut(ours.Value(psbt.InWitnessUTXO))
	if err != nil || int64(amount) != theirs.WitnessUtxo.Value || !bytes.Equal(script, theirs.WitnessUtxo.PkScript) {
		t.Fatalf("the output spent is of %d for %x (%v), btcd reads %+v", amount, script, err, theirs.WitnessUtxo)
	}
}

// FuzzBitcoinSign checks that no PSBT causes a panic, and that a signed PSBT is the
// input with only signatures added, which is read and verified again.
func FuzzBitcoinSign(f *testing.F) {
	key := bitcoinKey(f)
	bitcoinSeeds(f, key.PublicKey())
	chain := bitcoin.New(bitcoin.Limits{})
	f.Fuzz(func(t *testing.T, raw []byte) { checkBitcoinSigned(t, chain, key, raw) })
}

// checkBitcoinSigned shows and signs any readable PSBT.
func checkBitcoinSigned(t *testing.T, chain bitcoin.Chain, key keystore.Key, raw []byte) {
	t.Helper()
	tx, err := chain.Parse(raw)
	if err != nil {
		return
	}
	tx.Summary().Digest()
	tx.Hazards()
	request, err := tx.Request(key.ID())
	testenv.Must(t, err)
	signing, err := request.With(key)
	if err != nil {
		return
	}
	signing.SignerView()
	signing.Hazards()
	signing.Effects()
	signing.(chains.WalletSigning).Balance()
	signed, err := signing.AppendSigned(t.Context(), nil)
	if err != nil {
		t.Fatalf("With takes the key, and signing fails: %v", err)
	}
	again, err := chain.Parse(signed)
	if err != nil {
		t.Fatalf("what was signed is refused: %v", err)
	}
	if again.Summary().Chain != bitcoin.Name || !bytes.Equal(withoutNew(readPSBT(t, signed), readPSBT(t, raw)), raw) {
		t.Fatal("more than signatures changed")
	}
	if final, err := bitcoin.Finalize(signed); err == nil {
		if _, err := psbt.ReadTransaction(final, 0); err != nil {
			t.Fatalf("what was finalized is no transaction: %v", err)
		}
	}
}

func readPSBT(t *testing.T, raw []byte) *psbt.Packet {
	t.Helper()
	packet, err := psbt.Read(raw)
	testenv.Must(t, err)
	return packet
}

// withoutNew returns a signed PSBT without the signatures that were added.
func withoutNew(signed, was *psbt.Packet) []byte {
	if flags := was.Global.Find(psbt.GlobalTxModifiable); flags != nil { // BIP-370 has a signer change it
		copy(signed.Global.Find(psbt.GlobalTxModifiable).Value, flags.Value)
	}
	for i := range signed.Inputs {
		old := map[string]bool{}
		for _, record := range was.Inputs[i].Records {
			old[string(record.Key)] = true
		}
		var kept []psbt.Record
		for _, record := range signed.Inputs[i].Records {
			added := record.Type == psbt.InPartialSig || record.Type == psbt.InTapKeySig || record.Type == psbt.InTapScriptSig
			if old[string(record.Key)] || !added {
				kept = append(kept, record)
			}
		}
		signed.Inputs[i].Records = kept
	}
	return signed.Encode()
}

// FuzzBitcoinAddress checks that no text causes a panic, and that what is accepted as
// an address is one.
func FuzzBitcoinAddress(f *testing.F) {
	for _, text := range []string{
		"tb1q86sdxfzdwas2hr6n428jyg5up3u7vj5catau8m", "mmE6rFNaoPL9yPyNPV68bRkRGbPbv38FNe", "2N4Jr7nS66g7qemt8mSWyjBMnUjW25a2Cg3",
		"tb1pfh6dkyz4uqm6d47zyfetmr65tuf0j73658er4vpjhph7292x9y2qr3fw54", "bcrt1", "treasury", "",
	} {
		f.Add(text)
	}
	chain := bitcoin.New(bitcoin.Limits{})
	spend := bitcointest.P2WPKH(chaintest.Key(f, keystore.CurveSecp256k1, bytes.Repeat([]byte{1}, 32)).PublicKey())
	tx, err := chain.Parse(bitcointest.PSBT{
		Inputs: []bitcointest.Input{spend.Input(10_000, 1)}, Outputs: []bitcointest.Output{spend.Output(9_000)},
	}.Encode())
	testenv.Must(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		request, err := tx.Request(text)
		if err != nil {
			if _, ok := errors.AsType[*chains.SignerError](err); !ok {
				t.Fatalf("%#v", err)
			}
			return
		}
		locators := request.Locators()
		if _, address := bitcoin.NetworkOf(text); !address && (len(locators) != 1 || locators[0] != keystore.ByID(text)) {
			t.Fatalf("%v", locators)
		}
	})
}
