package bitcoin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

func suite(t testing.TB, name string, into any) {
	t.Helper()
	text := testenv.Read(t, testenv.Suite(t, "bitcoin", name))
	testenv.JSON(t, text, into)
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	testenv.Must(t, err)
	return raw
}

func keyOfWIF(t testing.TB, text string) keystore.Key {
	t.Helper()
	wif, err := btcutil.DecodeWIF(text)
	testenv.Must(t, err)
	return keyOf(t, wif.PrivKey.Serialize())
}

// TestSignerChecks has what BIP-174 requires the signer to refuse and the PSBT reader
// accepts.
func TestSignerChecks(t *testing.T) {
	var bips struct {
		Vectors []struct{ Section, Case, Hex string }
	}
	suite(t, "bip_psbt.json", &bips)
	want := map[string]string{
		"A Witness UTXO is provided for a non-witness input":                 "input 0 PSBT_IN_WITNESS_UTXO",
		"redeemScript with non-witness UTXO does not match the scriptPubKey": "input 0 PSBT_IN_REDEEM_SCRIPT",
		"redeemScript with witness UTXO does not match the scriptPubKey":     "input 1 PSBT_IN_REDEEM_SCRIPT",
		"witnessScript with witness UTXO does not match the redeemScript":    "input 1 PSBT_IN_WITNESS_SCRIPT",
	}
	for _, vector := range bips.Vectors {
		field, ok := want[vector.Case]
		if !ok {
			continue
		}
		delete(want, vector.Case)
		raw := chaintest.Unhex(t, vector.Hex)
		if _, err := psbt.Read(raw); err != nil {
			t.Errorf("%s: the reader refuses: %v", vector.Case, err)
		}
		if err := refused(t, raw); err.Field != field {
			t.Errorf("%s: %v, want %s", vector.Case, err, field)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the suite: %v", want)
	}
}

// fixtures is the part of bitcoinjs-lib's PSBT fixtures that is run here.
type fixtures struct {
	BIP174 struct {
		Invalid, Valid, FailSignChecks []struct{ Description, PSBT string }
		Signer                         []struct {
			Description, PSBT, Result string
			Keys                      []struct{ WIF, TapLeafHashToSign string }
		}
		Finalizer []struct{ Description, PSBT, Result string }
		Extractor []struct{ PSBT, Transaction string }
	}
	FinalizeAllInputs []struct{ Type, PSBT, Result string }
}

func TestBitcoinJSFormat(t *testing.T) {
	var js fixtures
	suite(t, "bitcoinjs_psbt_fixtures.json", &js)
	for _, c := range js.BIP174.Invalid {
		if _, err := psbt.Read(unbase64(t, c.PSBT)); err == nil {
			t.Errorf("%s: accepted", c.Description)
		}
	}
	for _, c := range js.BIP174.Valid {
		packet, err := psbt.Read(unbase64(t, c.PSBT))
		if c.Description == "PSBT with unknown types in the inputs." {
			// Its unknown type 0f has become PSBT_IN_OUTPUT_INDEX, which BIP-370
			// forbids in version 0. The case of this name in BIP-174 has another.
			if err == nil || !strings.Contains(err.Error(), "input 0 PSBT_IN_OUTPUT_INDEX") {
				t.Errorf("%s: %v", c.Description, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Description, err)
		} else if !bytes.Equal(packet.Encode(), packet.Raw) {
			t.Errorf("%s: written back differently", c.Description)
		}
	}
	for _, c := range js.BIP174.FailSignChecks {
		refused(t, unbase64(t, c.PSBT))
	}
}

// TestBitcoinJSSigner signs with each of the fixture's keys. The ECDSA results must
// equal its bytes. Its Schnorr results use random auxiliary data, so for those the keys
// are compared and the signatures verified.
func TestBitcoinJSSigner(t *testing.T) {
	var js fixtures
	suite(t, "bitcoinjs_psbt_fixtures.json", &js)
	for i, c := range js.BIP174.Signer {
		signed := unbase64(t, c.PSBT)
		leafPicked := false
		for _, key := range c.Keys {
			handle := keyOfWIF(t, key.WIF)
			tx := parse(t, signed)
			next, err := sign(t.Context(), tx, handle.ID(), handle)
			if err != nil {
				t.Fatalf("%d %s: %v", i, c.Description, err)
			}
			signed, leafPicked = next, leafPicked || key.TapLeafHashToSign != ""
		}
		want := packetOf(t, unbase64(t, c.Result))
		got := parse(t, signed).Packet()
		for input := range want.Inputs {
			compareSignatures(t, i, &got.Inputs[input].Map, &want.Inputs[input].Map)
		}
		for input := range got.Inputs {
			if a, b := len(got.Inputs[input].Records), len(want.Inputs[input].Records); a != b && !leafPicked {
				t.Errorf("signer %d input %d: %d records, want %d", i, input, a, b)
			}
		}
	}
}

// hasHighR reports whether the r of a DER signature has 33 bytes: 30 len 02 21.
func hasHighR(signature []byte) bool { return len(signature) > 3 && signature[3] == 33 }

// compareSignatures compares the signatures of one input. bitcoinjs does not grind for a
// low r unless it is told to: where its r is high, ours must be another signature, which
// parsing has verified.
func compareSignatures(t *testing.T, fixture int, got, want *psbt.Map) {
	t.Helper()
	for _, record := range want.Records {
		if !isSignature(record.Type) {
			continue
		}
		found := false
		for ours := range got.All(record.Type) {
			if bytes.Equal(ours.Key, record.Key) {
				found = record.Type != psbt.InPartialSig || bytes.Equal(ours.Value, record.Value) || hasHighR(record.Value) && !hasHighR(ours.Value)
			}
		}
		if !found {
			t.Errorf("signer %d: no signature %x with value %x", fixture, record.Key, record.Value)
		}
	}
}

// unfinalizable are fixtures that are refused here and that bitcoinjs-lib does not
// check: in two the internal key is the output key without its tweak, in the third the
// signature does not belong to the input (bitcoinjs-lib's own validation says so too).
var unfinalizable = map[string]string{
	"Finalze taproot key-path":             "input 1 PSBT_IN_TAP_INTERNAL_KEY",
	"Finalze taproot script-path (3-of-3)": "input 1 PSBT_IN_TAP_INTERNAL_KEY",
	"P2SH-P2WPKH":                          "the signature does not verify",
}

// TestBitcoinJSFinalizer checks that finalizing the fixture yields the transaction in
// the result that bitcoinjs-lib finalized.
func TestBitcoinJSFinalizer(t *testing.T) {
	var js fixtures
	suite(t, "bitcoinjs_psbt_fixtures.json", &js)
	compare := func(name, before, after string) {
		ours, err := bitcoin.Finalize(unbase64(t, before))
		if why, ok := unfinalizable[name]; ok {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want a refusal: %s", name, err, why)
			}
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		theirs, err := bitcoin.Finalize(unbase64(t, after))
		if err != nil {
			t.Errorf("%s: their result: %v", name, err)
			return
		}
		if !bytes.Equal(ours, theirs) {
			t.Errorf("%s:\n got %x\nwant %x", name, ours, theirs)
		}
	}
	for _, c := range js.BIP174.Finalizer {
		compare(c.Description, c.PSBT, c.Result)
	}
	for _, c := range js.FinalizeAllInputs {
		compare(c.Type, c.PSBT, c.Result)
	}
	for _, c := range js.BIP174.Extractor {
		final, err := bitcoin.Finalize(unbase64(t, c.PSBT))
		if err != nil || hex.EncodeToString(final) != c.Transaction {
			t.Errorf("extractor: %x %v", final, err)
		}
	}
}

// TestBIP340 signs the vectors that have a secret and zero auxiliary data.
func TestBIP340(t *testing.T) {
	text := testenv.Read(t, testenv.Suite(t, "bitcoin", "bip340.csv"))
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	testenv.Must(t, err)
	signed := 0
	for _, row := range rows[1:] {
		if row[1] == "" || strings.Trim(row[3], "0") != "" || len(row[4]) != 64 {
			continue
		}
		signer, err := keystore.AsSchnorr(keyOf(t, chaintest.Unhex(t, row[1])))
		testenv.Must(t, err)
		signature, err := signer.SignSchnorr(t.Context(), [32]byte(chaintest.Unhex(t, row[4])), keystore.ScriptPath())
		if err != nil || !strings.EqualFold(hex.EncodeToString(signature[:]), row[5]) {
			t.Errorf("%s: %x %v", row[0], signature, err)
		}
		signed++
	}
	if signed == 0 {
		t.Error("no vector was signed")
	}
}

// bip341 is the suite of BIP-341's wallet vectors.
type bip341 struct {
	ScriptPubKey []struct {
		Given struct {
			InternalPubkey string
			ScriptTree     any
		}
		Intermediary struct{ MerkleRoot string }
		Expected     struct {
			ScriptPubKey            string
			BIP350Address           string
			ScriptPathControlBlocks []string
		}
	}
	KeyPathSpending []struct {
		Given struct {
			RawUnsignedTx string
			UTXOsSpent    []struct {
				ScriptPubKey string
				AmountSats   uint64
			}
		}
		InputSpending []struct {
			Given struct {
				TxInIndex       int
				InternalPrivkey string
				MerkleRoot      string
				HashType        int
			}
			Expected struct{ Witness []string }
		}
	}
}

// TestBIP341Spending puts the vector's transaction into a PSBT and signs each input
// with its own key. The signatures must equal the vector's bytes.
func TestBIP341Spending(t *testing.T) {
	var vectors bip341
	suite(t, "bip341_wallet.json", &vectors)
	for _, spending := range vectors.KeyPathSpending {
		raw := psbtOfBIP341(t, &vectors)
		tx, err := bitcoin.ParseUnproven(raw)
		testenv.Must(t, err)
		if got := hex.EncodeToString(tx.Packet().Unsigned()); got != spending.Given.RawUnsignedTx {
			t.Fatal("the PSBT has another transaction")
		}
		for _, in := range spending.InputSpending {
			key := keyOf(t, chaintest.Unhex(t, in.Given.InternalPrivkey))
			signed, err := sign(t.Context(), tx, key.ID(), key)
			if err != nil {
				t.Fatalf("input %d: %v", in.Given.TxInIndex, err)
			}
			packet := packetOf(t, signed)
			got := packet.Inputs[in.Given.TxInIndex].Value(psbt.InTapKeySig)
			if hex.EncodeToString(got) != in.Expected.Witness[0] {
				t.Errorf("input %d: %x, want %s", in.Given.TxInIndex, got, in.Expected.Witness[0])
			}
		}
	}
}

// psbtOfBIP341 returns a PSBT of the vector's transaction with claimed amounts, merkle
// roots and sighash types, as far as the vector has them.
func psbtOfBIP341(t *testing.T, vectors *bip341) []byte {
	t.Helper()
	spending := vectors.KeyPathSpending[0]
	unsigned := chaintest.Unhex(t, spending.Given.RawUnsignedTx)
	out := psbt.AppendRecord([]byte("psbt\xff"), []byte{psbt.GlobalUnsignedTx}, unsigned)
	out = append(out, 0)
	for i, utxo := range spending.Given.UTXOsSpent {
		out = psbt.AppendRecord(out, []byte{psbt.InWitnessUTXO}, bitcointest.AppendTxOut(nil, utxo.AmountSats, chaintest.Unhex(t, utxo.ScriptPubKey)))
		for _, in := range spending.InputSpending {
			if in.Given.TxInIndex != i {
				continue
			}
			out = psbt.AppendRecord(out, []byte{psbt.InSighashType}, []byte{byte(in.Given.HashType), 0, 0, 0})
			if in.Given.MerkleRoot != "" {
				out = psbt.AppendRecord(out, []byte{psbt.InTapMerkleRoot}, chaintest.Unhex(t, in.Given.MerkleRoot))
			}
		}
		out = append(out, 0)
	}
	return append(out, 0, 0)
}

// TestBIP341Outputs checks that each leaf of the vectors, with its control block, leads
// to its output, and that the addresses are the vectors'.
func TestBIP341Outputs(t *testing.T) {
	var vectors bip341
	suite(t, "bip341_wallet.json", &vectors)
	for i, vector := range vectors.ScriptPubKey {
		scripts := leafScripts(vector.Given.ScriptTree)
		spend := bitcointest.Spend{Script: chaintest.Unhex(t, vector.Expected.ScriptPubKey)}
		internal := chaintest.Unhex(t, vector.Given.InternalPubkey)
		if _, err := schnorr.ParsePubKey(internal); err != nil {
			t.Fatal(err)
		}
		spend.Records = []bitcointest.Record{{Key: []byte{psbt.InTapInternalKey}, Value: internal}}
		if root := vector.Intermediary.MerkleRoot; root != "" {
			spend.Records = append(spend.Records, bitcointest.Record{Key: []byte{psbt.InTapMerkleRoot}, Value: chaintest.Unhex(t, root)})
		}
		for j, control := range vector.Expected.ScriptPathControlBlocks {
			spend.Records = append(spend.Records, bitcointest.Record{
				Key: append([]byte{psbt.InTapLeafScript}, chaintest.Unhex(t, control)...), Value: scripts[j],
			})
		}
		tx := parse(t, spending(t, spend, nil))
		if got := addressIn(t, tx); got != vector.Expected.BIP350Address {
			t.Errorf("%d: address %s, want %s", i, got, vector.Expected.BIP350Address)
		}
	}
}

// leafScripts lists script ‖ leaf version of a tree in depth-first order.
func leafScripts(tree any) [][]byte {
	switch node := tree.(type) {
	case []any:
		return append(leafScripts(node[0]), leafScripts(node[1])...)
	case map[string]any:
		script, err := hex.DecodeString(node["script"].(string))
		if err != nil {
			panic(err)
		}
		return [][]byte{append(script, byte(node["leafVersion"].(float64)))}
	}
	return nil
}
