package peers

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// btcd reads a PSBT, checks the transactions it spends, signs and writes it with btcd's
// psbt and txscript.
func btcd(t testing.TB, w *workload.Workload) peer {
	keys := make([]*btcec.PrivateKey, workload.Keys)
	for i := range keys {
		keys[i], _ = btcec.PrivKeyFromBytes(workload.Secret(i))
	}
	return goPeer(func(i int) string {
		i %= workload.Keys
		signed, err := signPSBT(w.Requests[i].UnsignedTransaction, keys[i])
		testenv.Must(t, err)
		return signed
	})
}

func signPSBT(text string, key *btcec.PrivateKey) (string, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return "", err
	}
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		return "", err
	}
	tx, spent := packet.UnsignedTx, txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range packet.Inputs {
		previous := tx.TxIn[i].PreviousOutPoint
		if in.NonWitnessUtxo.TxHash() != previous.Hash {
			return "", fmt.Errorf("input %d: the previous transaction is not the one spent", i)
		}
		spent.AddPrevOut(previous, in.NonWitnessUtxo.TxOut[previous.Index])
	}
	hashes := txscript.NewTxSigHashes(tx, spent)
	for i := range packet.Inputs {
		if err := signPSBTInput(packet, i, hashes, spent, key); err != nil {
			return "", err
		}
	}
	var out bytes.Buffer
	if err := packet.Serialize(&out); err != nil {
		return "", err
	}
	return hex.EncodeToString(out.Bytes()), nil
}

func signPSBTInput(packet *psbt.Packet, i int, hashes *txscript.TxSigHashes, spent txscript.PrevOutputFetcher, key *btcec.PrivateKey) error {
	tx, out := packet.UnsignedTx, spent.FetchPrevOutput(packet.UnsignedTx.TxIn[i].PreviousOutPoint)
	if !txscript.IsPayToTaproot(out.PkScript) {
		return fmt.Errorf("input %d: not taproot", i)
	}
	digest, err := txscript.CalcTaprootSignatureHash(hashes, txscript.SigHashDefault, tx, i, spent)
	if err != nil {
		return err
	}
	signature, err := schnorr.Sign(txscript.TweakTaprootPrivKey(*key, nil), digest, schnorr.CustomNonce([32]byte{}), schnorr.FastSign())
	if err != nil {
		return err
	}
	packet.Inputs[i].TaprootKeySpendSig = signature.Serialize()
	return nil
}
