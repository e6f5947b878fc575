package bitcoin_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// messageVector is a signed message of BIP-322's own files, bip-0322/ of the
// repository of the BIPs, of version 2.0.0.
type messageVector struct {
	Message, Address, Type string
	Keys                   []string `json:"private_keys"`
	WitnessScript          string   `json:"witness_script"`
	SigScript              string   `json:"sig_script"`
	LockTime               uint32   `json:"lock_time"`
	Sequence               uint32   `json:"sequence"`
	Signatures             []string `json:"bip322_signatures"`
}

type messageVectors struct {
	Simple, Full []messageVector
	Funds        []messageVector `json:"proof_of_funds"`
	Error        []struct{ Description, Message, Address, Signature string }
}

func readMessageVectors(t *testing.T) (all messageVectors) {
	for _, name := range []string{"basic", "generated"} {
		var some messageVectors
		chaintest.ReadJSON(t, "testdata/bip322/"+name+".json", &some)
		all.Simple, all.Full = append(all.Simple, some.Simple...), append(all.Full, some.Full...)
		all.Funds, all.Error = append(all.Funds, some.Funds...), append(all.Error, some.Error...)
	}
	return all
}

// toSign returns the message as a ToSign.
func (v *messageVector) toSign(t *testing.T) bitcoin.ToSign {
	m := bitcoin.ToSign{Text: v.Message, Address: v.Address, LockTime: v.LockTime, Sequence: v.Sequence}
	for text, into := range map[string]*[]byte{v.WitnessScript: &m.WitnessScript, v.SigScript: &m.RedeemScript} {
		raw := testenv.Hex(t, text)
		if len(raw) > 0 {
			*into = raw
		}
	}
	if v.Type == "p2tr-time-lock" {
		m.WitnessScript = nil // it is the leaf's
	}
	if encoded, ok := strings.CutPrefix(v.Signatures[0], "pof"); ok {
		m.Funds = fundsOf(t, encoded)
	}
	return m
}

// fundsOf returns a wallet's PSBT of what a signature proves: what its inputs spend,
// without signatures.
func fundsOf(t *testing.T, encoded string) []byte {
	signed := readPSBT(t, encoded)
	tx := wire.NewMsgTx(2)
	funds := psbt.Packet{Outputs: make([]psbt.Output, 1)}
	previous := map[[32]byte]psbt.Record{}
	for i := range signed.Inputs[1:] {
		in := &signed.Inputs[1+i]
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: in.PreviousTxID, Index: in.OutputIndex}, Sequence: in.Sequence})
		var records []psbt.Record
		if record := in.Find(psbt.InNonWitnessUTXO); record != nil {
			previous[in.PreviousTxID] = *record
		}
		if record := in.Find(psbt.InWitnessUTXO); record != nil {
			records = append(records, *record)
			if script := in.Value(psbt.InFinalScriptSig); script != nil {
				records = append(records, psbt.Record{Key: []byte{psbt.InRedeemScript}, Value: script[1:]})
			}
		} else {
			records = append(records, previous[in.PreviousTxID])
		}
		funds.Inputs = append(funds.Inputs, psbt.Input{Map: psbt.Map{Records: records}})
	}
	tx.AddTxOut(&wire.TxOut{Value: 1, PkScript: []byte{txscript.OP_1}})
	var unsigned bytes.Buffer
	testenv.Must(t, tx.SerializeNoWitness(&unsigned))
	funds.Global.Records = []psbt.Record{{Key: []byte{psbt.GlobalUnsignedTx}, Value: unsigned.Bytes()}}
	return funds.Encode()
}

func readPSBT(t *testing.T, encoded string) *psbt.Packet {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(encoded)
	testenv.Must(t, err)
	return packetOf(t, raw)
}

// signed signs the message with each key, one after the other.
func (v *messageVector) signed(t *testing.T) []byte {
	raw, err := v.toSign(t).PSBT()
	testenv.Must(t, err)
	if v.Type == "p2tr-time-lock" {
		raw = v.withLeaf(t, raw)
	}
	for _, text := range v.Keys {
		wif, err := keyformat.ParseWIF([]byte(text))
		testenv.Must(t, err)
		key := keyOf(t, wif.Key.Secret)
		hazards := hazardsFor(parse(t, raw), key.PublicKey())
		if len(hazards) != 1 || hazards[0].Name != texts.HazardFreeText {
			t.Errorf("hazards %v", hazards)
		}
		if raw, err = sign(t.Context(), parse(t, raw), key.ID(), key); err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

// withLeaf adds the leaf script and its control block, which ToSign does not provide.
func (v *messageVector) withLeaf(t *testing.T, raw []byte) []byte {
	packet := packetOf(t, raw)
	tx, _, err := checkMessage(v.Message, v.Address, v.Signatures[0])
	testenv.Must(t, err)
	witness := tx.TxIn[0].Witness
	control, script := witness[len(witness)-1], witness[len(witness)-2]
	packet.Inputs[0].Records = append(packet.Inputs[0].Records, psbt.Record{
		Key: append([]byte{psbt.InTapLeafScript}, control...), Value: append(bytes.Clone(script), control[0]&^1)})
	return packet.Encode()
}

// TestMessageVectors signs BIP-322's own vectors as their signers do. A verifier that
// shares only the script engine with the signer must accept each. Every byte must equal
// the vector's, except for taproot, where other signatures are valid too, and for a
// proof that leaves out a transaction given before.
func TestMessageVectors(t *testing.T) {
	vectors := readMessageVectors(t)
	count, another, equal := map[string]int{}, map[string]int{}, 0
	for form, some := range map[string][]messageVector{"smp": vectors.Simple, "ful": vectors.Full, "pof": vectors.Funds} {
		for i := range some {
			v := &some[i]
			t.Run(fmt.Sprintf("%s %s", form, v.Message), func(t *testing.T) {
				signed := v.signed(t)
				if v.Type == "p2wsh-time-lock" {
					v.wantPart(t, signed)
					count["with a time lock"]++
					return
				}
				got, ok, err := bitcoin.MessageSignature(signed)
				if err != nil || !ok || !strings.HasPrefix(got, form) {
					t.Fatalf("%q, %v, %v", got, ok, err)
				}
				if _, _, err := checkMessage(v.Message, v.Address, got); err != nil {
					t.Error(err)
				}
				count[form]++
				if slices.ContainsFunc(v.Signatures, func(want string) bool { return strings.TrimPrefix(want, form) == got[len(form):] }) {
					equal++
				} else {
					another[v.Type]++
				}
			})
		}
	}
	t.Logf("%v; %d equal in every byte, others: %v", count, equal, another)
	wantCount := map[string]int{"smp": 8, "ful": 9, "pof": 3, "with a time lock": 1}
	wantOther := map[string]int{"p2tr": 4, "p2tr-time-lock": 1, "p2pkh": 1}
	if !maps.Equal(count, wantCount) || !maps.Equal(another, wantOther) || equal != 14 {
		t.Errorf("want %v, others: %v", wantCount, wantOther)
	}
}

// wantPart checks that the vector's signature contains that of a script which the
// finalizer does not know.
func (v *messageVector) wantPart(t *testing.T, signed []byte) {
	if _, _, err := bitcoin.MessageSignature(signed); err == nil {
		t.Error("finalized: compare it like the others")
	}
	whole, err := base64.StdEncoding.DecodeString(v.Signatures[0][3:])
	testenv.Must(t, err)
	packet := packetOf(t, signed)
	for _, keyType := range []uint64{psbt.InPartialSig, psbt.InTapScriptSig} {
		for record := range packet.Inputs[0].All(keyType) {
			if bytes.Contains(whole, record.Value) {
				return
			}
		}
	}
	t.Errorf("the signature of %x is not in it", signed)
}

// TestMessageErrorVectors checks that the verifier of these tests refuses what BIP-322
// says is wrong and accepts what it says is right, so that its acceptance of the
// signatures here is meaningful.
func TestMessageErrorVectors(t *testing.T) {
	vectors := readMessageVectors(t)
	for _, v := range vectors.Error {
		if _, _, err := checkMessage(v.Message, v.Address, v.Signature); err == nil {
			t.Errorf("%s: taken", v.Description)
		}
	}
	taken := 0
	for _, v := range slices.Concat(vectors.Simple, vectors.Full, vectors.Funds) {
		for _, signature := range v.Signatures {
			if _, _, err := checkMessage(v.Message, v.Address, signature); err != nil {
				t.Errorf("%s: %v", v.Type, err)
			}
			taken++
		}
	}
	t.Logf("%d refused, %d taken", len(vectors.Error), taken)
	if len(vectors.Error) < 36 || taken < 23 {
		t.Error("vectors are missing")
	}
}

// checkMessage verifies a signature as BIP-322 says: with the script engine, and a
// to_sign that it builds itself.
func checkMessage(text, address, signature string) (*wire.MsgTx, int, error) {
	script, err := bitcoin.ScriptOf(address)
	if err != nil {
		return nil, 0, err
	}
	tx, spent, err := readSignature(text, script, signature)
	if err != nil {
		return nil, 0, err
	}
	spends := wire.OutPoint{Hash: bitcoin.ToSpendID([]byte(text), script)}
	if tx.TxIn[0].PreviousOutPoint != spends || len(tx.TxOut) != 1 || tx.TxOut[0].Value != 0 || !bytes.Equal(tx.TxOut[0].PkScript, []byte{txscript.OP_RETURN}) {
		return nil, 0, errors.New("not to_sign of this message")
	}
	fetcher := txscript.NewMultiPrevOutFetcher(spent)
	fetcher.AddPrevOut(spends, &wire.TxOut{PkScript: script})
	hashes := txscript.NewTxSigHashes(tx, fetcher)
	for i, in := range tx.TxIn {
		output := fetcher.FetchPrevOutput(in.PreviousOutPoint)
		engine, err := txscript.NewEngine(output.PkScript, tx, i, txscript.StandardVerifyFlags, nil, hashes, output.Value, fetcher)
		if err == nil {
			err = engine.Execute()
		}
		if err != nil {
			return nil, 0, fmt.Errorf("invalid signature of input %d: %w", i, err)
		}
	}
	return tx, len(tx.TxIn), nil
}

// readSignature reads to_sign with its signatures, and what its further inputs spend.
func readSignature(text string, script []byte, signature string) (*wire.MsgTx, map[wire.OutPoint]*wire.TxOut, error) {
	form := "smp"
	for _, known := range []string{"smp", "ful", "pof"} {
		if rest, ok := strings.CutPrefix(signature, known); ok {
			form, signature = known, rest
			break
		}
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || len(raw) == 0 {
		return nil, nil, fmt.Errorf("base64: %v, %d bytes", err, len(raw))
	}
	switch tx := wire.NewMsgTx(0); form {
	case "smp":
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: bitcoin.ToSpendID([]byte(text), script)}})
		tx.AddTxOut(&wire.TxOut{PkScript: []byte{txscript.OP_RETURN}})
		tx.TxIn[0].Witness, err = psbt.ReadWitness(raw)
		return tx, nil, err
	case "ful":
		err := tx.Deserialize(bytes.NewReader(raw))
		if err == nil && len(tx.TxIn) != 1 {
			err = errors.New("several inputs")
		}
		return tx, nil, err
	}
	return readFinalPSBT(raw)
}

func readFinalPSBT(raw []byte) (*wire.MsgTx, map[wire.OutPoint]*wire.TxOut, error) {
	packet, err := psbt.Read(raw)
	if err != nil {
		return nil, nil, err
	}
	tx, spent, previous := wire.NewMsgTx(0), map[wire.OutPoint]*wire.TxOut{}, map[[32]byte]*psbt.Transaction{}
	if err := tx.DeserializeNoWitness(bytes.NewReader(packet.Unsigned())); err != nil {
		return nil, nil, err
	}
	for i := range packet.Inputs {
		in := &packet.Inputs[i]
		if in.Previous != nil {
			previous[in.PreviousTxID] = in.Previous
		}
		var amount uint64
		var script []byte
		if value := in.Value(psbt.InWitnessUTXO); value != nil {
			amount, script, err = psbt.ReadTxOut(value)
		} else if before := previous[in.PreviousTxID]; before != nil {
			amount, script, err = before.Output(in.OutputIndex)
		} else {
			err = errors.New("what it spends is missing")
		}
		if err != nil {
			return nil, nil, err
		}
		spent[tx.TxIn[i].PreviousOutPoint] = &wire.TxOut{Value: int64(amount), PkScript: script}
		tx.TxIn[i].SignatureScript = in.Value(psbt.InFinalScriptSig)
		if value := in.Value(psbt.InFinalScriptWitness); value != nil {
			if tx.TxIn[i].Witness, err = psbt.ReadWitness(value); err != nil {
				return nil, nil, err
			}
		}
	}
	return tx, spent, nil
}

// TestToSignRefused has what no message can be built from.
func TestToSignRefused(t *testing.T) {
	address := (bitcoin.Chain{}).Addresses(keyOf(t, secretOf(0x22)).PublicKey())[2].Address
	for name, m := range map[string]bitcoin.ToSign{
		"id of a key": {Text: "a", Address: "key-1"}, "mistyped address": {Text: "a", Address: address + "q"},
		"funds that are no PSBT": {Text: "a", Address: address, Funds: []byte("a")},
	} {
		if raw, err := m.PSBT(); err == nil {
			t.Errorf("%s: %x", name, raw)
		}
	}
	raw, err := bitcoin.ToSign{Text: "a\x1bb", Address: address}.PSBT()
	testenv.Must(t, err)
	refused(t, raw)
	payment := bitcointest.PSBT{
		Inputs:  []bitcointest.Input{bitcointest.P2WPKH(keyOf(t, secretOf(0x22)).PublicKey()).Input(1_000, 0)},
		Outputs: []bitcointest.Output{{Amount: 500, Script: bitcointest.P2WPKH(keyOf(t, secretOf(0x22)).PublicKey()).Script}},
	}
	if text, ok, err := bitcoin.MessageSignature(payment.Encode()); ok || err != nil {
		t.Errorf("a payment: %q, %v, %v", text, ok, err)
	}
}
