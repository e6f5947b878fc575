// Package chainvectors has the signed transactions of all chains' test data, for tests of
// keystores: each is signed again with a key of the keystore, and checked by independent
// libraries.
package chainvectors

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// Vector is a transaction that an independent library signed.
type Vector struct {
	Type                activity.TransactionType
	PrivateKey          string
	SecretKeySeedHex    string // Ed25519
	Address             string
	UnsignedTransaction string
	SignedTransaction   string
	SignPayload         string // Tempo
}

// All returns the vectors of all chains, by names that begin with the type.
func All(t *testing.T) map[string]Vector {
	t.Helper()
	all := map[string]Vector{}
	paths, err := filepath.Glob(filepath.Join(testenv.Root(), "chains/*/testdata/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v Vector
		if err := json.Unmarshal(content, &v); err == nil && v.SignedTransaction != "" {
			all[string(v.Type)+"/"+filepath.Base(path)] = v
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d vectors, want 20 at least", len(all))
	}
	return all
}

// Key returns the key that signed it.
func (v Vector) Key(t *testing.T) keystore.NewKey {
	t.Helper()
	if v.SecretKeySeedHex != "" {
		return keystore.NewKey{Curve: keystore.CurveEd25519, Secret: testenv.Hex(t, v.SecretKeySeedHex)}
	}
	return keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: testenv.Hex(t, v.PrivateKey)}
}

// Sign signs the vector through an engine over a keystore without BIP-340, and checks what
// independent libraries say of it: go-ethereum and btcd's script engine check signatures with
// random nonces, and Ed25519's bytes must be the vector's.
func (v Vector) Sign(t *testing.T, engine *countersign.Engine, organizationID, name string) {
	t.Helper()
	signed, err := engine.SignTransaction(t.Context(), organizationID, activity.SignTransactionIntent{
		Type: v.Type, SignWith: v.Address, UnsignedTransaction: v.UnsignedTransaction,
	})
	if strings.HasSuffix(name, "/p2tr.json") {
		if err == nil || !strings.Contains(err.Error(), "BIP-340") || !strings.Contains(err.Error(), "P2WPKH") {
			t.Errorf("taproot: %v, want ErrUnsupported and the alternative", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	v.check(t, testenv.Hex(t, signed.SignedTransaction))
}

// Engine returns an engine over a keystore, which it closes at the end of the test.
func Engine(t *testing.T, keys keystore.Keystore) *countersign.Engine {
	t.Helper()
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys,
		AllowHazards: []string{countersign.AllHazards}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

func (v Vector) check(t *testing.T, signed []byte) {
	t.Helper()
	want := testenv.Hex(t, v.SignedTransaction)
	switch v.Type {
	case activity.TransactionTypeSolana:
		if !bytes.Equal(signed, want) {
			t.Errorf("signed %x, want %x", signed, want)
		}
	case activity.TransactionTypeEthereum:
		checkEthereum(t, signed, v.Address)
	case activity.TransactionTypeBitcoin:
		checkBitcoin(t, signed)
	case activity.TransactionTypeTron, activity.TransactionTypeTempo:
		v.checkTail(t, signed, want)
	default:
		t.Errorf("no check for %s", v.Type)
	}
}

func checkEthereum(t *testing.T, signed []byte, address string) {
	t.Helper()
	var tx types.Transaction
	if err := tx.UnmarshalBinary(signed); err != nil {
		t.Fatal(err)
	}
	var signer types.Signer = types.HomesteadSigner{}
	if tx.Protected() {
		signer = types.LatestSignerForChainID(tx.ChainId())
	}
	if sender, err := types.Sender(signer, &tx); err != nil || !strings.EqualFold(sender.Hex(), address) {
		t.Errorf("sender %v, %v, want %s", sender, err, address)
	}
	if _, _, s := tx.RawSignatureValues(); s.Cmp(new(big.Int).Rsh(crypto.S256().Params().N, 1)) > 0 {
		t.Error("s is high")
	}
}

// checkTail compares everything but the signature, which is the last 65 bytes on Tron and
// Tempo, and has go-ethereum recover the signer.
func (v Vector) checkTail(t *testing.T, signed, want []byte) {
	t.Helper()
	split := len(want) - 65
	if len(signed) != len(want) || !bytes.Equal(signed[:split], want[:split]) {
		t.Fatalf("signed %x, want %x", signed, want)
	}
	digest := testenv.Hex(t, v.SignPayload)
	if v.Type == activity.TransactionTypeTron {
		digest = tronDigest(t, signed[:split])
	}
	recover := func(transaction []byte) string {
		signature := bytes.Clone(transaction[split:])
		signature[64] -= 27
		point, err := crypto.SigToPub(digest, signature)
		if err != nil {
			t.Fatal(err)
		}
		return crypto.PubkeyToAddress(*point).Hex()
	}
	if recover(signed) != recover(want) {
		t.Errorf("signed by %s, want %s", recover(signed), recover(want))
	}
}

// checkBitcoin runs every input through btcd's script engine.
func checkBitcoin(t *testing.T, signed []byte) {
	t.Helper()
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(signed), false)
	if err != nil {
		t.Fatal(err)
	}
	final, err := bitcoin.Finalize(signed)
	if err != nil {
		t.Fatal(err)
	}
	var tx wire.MsgTx
	if err := tx.Deserialize(bytes.NewReader(final)); err != nil {
		t.Fatal(err)
	}
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range packet.Inputs {
		output := in.WitnessUtxo
		if output == nil {
			output = in.NonWitnessUtxo.TxOut[tx.TxIn[i].PreviousOutPoint.Index]
		}
		spent.AddPrevOut(tx.TxIn[i].PreviousOutPoint, output)
	}
	hashes := txscript.NewTxSigHashes(&tx, spent)
	for i, in := range tx.TxIn {
		output := spent.FetchPrevOutput(in.PreviousOutPoint)
		engine, err := txscript.NewEngine(output.PkScript, &tx, i, txscript.StandardVerifyFlags, nil, hashes, output.Value, spent)
		if err == nil {
			err = engine.Execute()
		}
		if err != nil {
			t.Errorf("input %d: %v", i, err)
		}
	}
}

// tronDigest is SHA-256 of raw_data, the first field of a Tron transaction:
//
//	0a <length> raw_data 12 41 signature
func tronDigest(t *testing.T, head []byte) []byte {
	t.Helper()
	raw, size := protowire.ConsumeBytes(head[1:])
	if head[0] != 0x0a || size < 0 || !bytes.Equal(head[1+size:], []byte{0x12, 65}) {
		t.Fatalf("not raw_data and a signature: %x", head)
	}
	digest := sha256.Sum256(raw)
	return digest[:]
}
