package interop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

var updateTron = flag.Bool("update-tron", false, "write what TronWeb built to chains/tron/testdata")

// tronKeys are test-only keys: that of the vectors, and two for co-signers.
var tronKeys = []string{
	"e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca",
	"0000000000000000000000000000000000000000000000000000000000000001",
	"0000000000000000000000000000000000000000000000000000000000000002",
}

// tronCase is a transaction as TronWeb expects it, and as Wallet Core does if it supports
// the type.
type tronCase struct {
	Type       string          `json:"type"`
	Value      json.RawMessage `json:"value"`
	FeeLimit   int64           `json:"feeLimit"`
	WalletCore map[string]any  `json:"walletCore"`
}

// tronBuilt is a transaction that a library has built.
type tronBuilt struct {
	Type       string `json:"type"`
	RawDataHex string `json:"rawDataHex"`
	TxID       string `json:"txID"`
	Signature  string `json:"signature"`
	Signed     string `json:"signed"`
}

func readTronCases(t *testing.T) []tronCase {
	t.Helper()
	text := testenv.Read(t, filepath.Join("testdata", "tron_cases.json"))
	named := strings.NewReplacer(
		"$owner58", "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn", "$owner", "4197cc56300c36f60c7fb7c50babc6c5cdf59d5c56",
		"$other58", "TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ", "$other", "41f1cd33c4802dec54475c555f95e9403a62fd3553",
		"$contract58", "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf", "$contract", "41eca9bc828a3005b9a3b909f2cc5c2a54794de05f",
	).Replace(string(text))
	var cases []tronCase
	testenv.JSON(t, []byte(named), &cases)
	return cases
}

func buildTron(t *testing.T, c tronCase, frame map[string]any, permission int) tronBuilt {
	t.Helper()
	built := tronBuilt{Type: c.Type}
	startPeer(t, "tron.mjs").ask(t, map[string]any{
		"op": "build", "type": c.Type, "value": c.Value, "frame": frame,
		"permissionID": permission, "privateKey": tronKeys[0],
	}, &built)
	return built
}

// tronFrames returns variations of the members around a contract.
func tronFrames(c tronCase) []struct {
	frame      map[string]any
	permission int
} {
	base := func(more map[string]any) map[string]any {
		frame := map[string]any{
			"ref_block_bytes": "0a1b", "ref_block_hash": "1122334455667788",
			"expiration": int64(1900000060000), "timestamp": int64(1900000000000),
		}
		if c.FeeLimit != 0 {
			frame["fee_limit"] = c.FeeLimit
		}
		maps.Copy(frame, more)
		return frame
	}
	return []struct {
		frame      map[string]any
		permission int
	}{
		{frame: base(nil)},
		{frame: base(map[string]any{"data": "696e766f6963652034322e", "ref_block_bytes": "0a02"})},
		{frame: base(map[string]any{"fee_limit": 1_000_000_000}), permission: 2},
		{frame: base(map[string]any{"data": "c3bc", "fee_limit": int64(15_000_000_000), "ref_block_bytes": "ffff"}), permission: 9},
	}
}

// TestTronWeb compares our signatures of everything that TronWeb can build with its own.
func TestTronWeb(t *testing.T) {
	store := tronStore(t)
	types := map[string]bool{}
	var made []tronBuilt
	var counts testenv.Outcomes
	for number, c := range readTronCases(t) {
		for variant, v := range tronFrames(c) {
			built := buildTron(t, c, v.frame, v.permission)
			types[c.Type] = true
			countTron(t, store, built.RawDataHex, &counts)
			if variant == 0 {
				made = append(made, built)
			}
			t.Run(fmt.Sprintf("%d/%s/%d", number, c.Type, variant), func(t *testing.T) {
				compareWithTronWeb(t, store, built)
			})
		}
	}
	if len(types) < 25 {
		t.Errorf("only %d kinds of transactions were compared", len(types))
	}
	testenv.ClientRow(t, "tronweb", counts)
	t.Logf("%d kinds of transactions, by default: %+v", len(types), counts)
	if *updateTron {
		writeTronVectors(t, made)
	}
}

func compareWithTronWeb(t *testing.T, store *memory.Store, built tronBuilt) {
	signed := signTron(t, store, 0, built.RawDataHex)
	if signed != built.Signed {
		t.Errorf("signed\n%s, TronWeb has\n%s", signed, built.Signed)
	}
	var decoded struct {
		TxID       string
		Reencoded  string
		Signatures []string
		Signers    []string
		RawData    struct {
			Contract []struct{ Type string }
		}
	}
	startPeer(t, "tron.mjs").ask(t, map[string]any{"op": "decode", "type": built.Type, "signed": signed}, &decoded)
	if decoded.TxID != built.TxID || decoded.Reencoded != signed {
		t.Errorf("TronWeb decodes ours as %s with id %s, want id %s", decoded.Reencoded, decoded.TxID, built.TxID)
	}
	if len(decoded.Signatures) != 1 || decoded.Signatures[0] != built.Signature {
		t.Errorf("TronWeb decodes signatures %v, made %s", decoded.Signatures, built.Signature)
	}
	if len(decoded.Signers) != 1 || decoded.Signers[0] != "4197cc56300c36f60c7fb7c50babc6c5cdf59d5c56" {
		t.Errorf("TronWeb recovers %v", decoded.Signers)
	}
	if contract := decoded.RawData.Contract; len(contract) != 1 || contract[0].Type != built.Type {
		t.Errorf("TronWeb decodes %v, want one %s", contract, built.Type)
	}
}

// TestTronWebCosigners has two co-signers of a permission sign one after the other, and
// TronWeb read the result.
func TestTronWebCosigners(t *testing.T) {
	store := tronStore(t)
	cases := readTronCases(t)
	built := buildTron(t, cases[1], tronFrames(cases[1])[0].frame, 2)
	first := signTron(t, store, 1, built.RawDataHex)
	both := signTron(t, store, 2, first)
	var decoded struct {
		TxID    string
		Signers []string
	}
	startPeer(t, "tron.mjs").ask(t, map[string]any{"op": "decode", "type": built.Type, "signed": both}, &decoded)
	want := []string{"417e5f4552091a69125d5dfcb7b8c2659029395bdf", "412b5ad5c4795c026514f8317c7a215e218dccd6cf"}
	if decoded.TxID != built.TxID || strings.Join(decoded.Signers, " ") != strings.Join(want, " ") {
		t.Errorf("TronWeb recovers %v of %s, want %v of %s", decoded.Signers, decoded.TxID, want, built.TxID)
	}
}

// TestTronWalletCore compares with Wallet Core, which has its own serializer. The last byte
// of its signatures is the bare recovery id.
func TestTronWalletCore(t *testing.T) {
	startPeer(t, "tron.mjs") // or skip the whole test
	store := tronStore(t)
	compared := 0
	var counts testenv.Outcomes
	for _, c := range readTronCases(t) {
		if c.WalletCore == nil {
			continue
		}
		compared++
		t.Run(c.Type, func(t *testing.T) { countTron(t, store, compareWithWalletCore(t, store, c), &counts) })
	}
	testenv.ClientRow(t, "Trust Wallet Core (Tron)", counts)
	if compared < 12 {
		t.Errorf("only %d transactions were compared", compared)
	}
}

// compareWithWalletCore returns what Wallet Core has built.
func compareWithWalletCore(t *testing.T, store *memory.Store, c tronCase) string {
	transaction := map[string]any{
		"timestamp": "1900000000000", "expiration": "1900000060000", "memo": "invoice 42",
		"blockHeader": map[string]any{"timestamp": "1900000000000", "number": "70000", "version": 3,
			"txTrieRoot": map[string]any{"hex": "01"}, "parentHash": map[string]any{"hex": "02"}, "witnessAddress": map[string]any{"hex": "41"}},
	}
	if c.FeeLimit != 0 {
		transaction["feeLimit"] = fmt.Sprint(c.FeeLimit)
	}
	maps.Copy(transaction, c.WalletCore)
	var theirs tronBuilt
	startPeer(t, "tron.mjs").ask(t, map[string]any{"op": "walletCore", "transaction": transaction, "privateKey": tronKeys[0]}, &theirs)
	id := sha256.Sum256(testenv.Hex(t, theirs.RawDataHex))
	if got := hex.EncodeToString(id[:]); got != theirs.TxID {
		t.Errorf("Wallet Core's id is %s, that of its raw_data %s", theirs.TxID, got)
	}
	signed := signTron(t, store, 0, theirs.RawDataHex)
	if got := signed[len(signed)-130 : len(signed)-2]; got != theirs.Signature[:128] {
		t.Errorf("r and s are %s, Wallet Core has %s", got, theirs.Signature[:128])
	}
	return theirs.RawDataHex
}

func tronStore(t *testing.T) *memory.Store {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	for number, secret := range tronKeys {
		key := keystore.NewKey{ID: fmt.Sprintf("key-%d", number), Curve: keystore.CurveSecp256k1, Secret: testenv.Hex(t, secret)}
		if _, err := store.Add(t.Context(), "org", key); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// countTron counts the outcome of a transaction for the first key.
func countTron(t *testing.T, store *memory.Store, unsigned string, counts *testenv.Outcomes) {
	t.Helper()
	signing := readyTron(t, store, 0, unsigned)
	counts.Add(isBlind(signing.Effects()), len(signing.Hazards()))
}

// signTron signs as the engine does, with one of tronKeys.
func signTron(t *testing.T, store *memory.Store, number int, unsigned string) string {
	t.Helper()
	signed, err := readyTron(t, store, number, unsigned).AppendSigned(t.Context(), nil)
	testenv.Must(t, err)
	return hex.EncodeToString(signed)
}

func readyTron(t *testing.T, store *memory.Store, number int, unsigned string) chains.Signing {
	t.Helper()
	raw, err := chains.DecodeHex(unsigned)
	testenv.Must(t, err)
	tx, err := tron.New(tron.Limits{}).Parse(raw)
	testenv.Must(t, err)
	signWith := fmt.Sprintf("key-%d", number)
	request, err := tx.Request(signWith)
	testenv.Must(t, err)
	key, err := store.Find(context.Background(), "org", request.Locators()[0])
	testenv.Must(t, err)
	signing, err := request.With(keystore.Verified(key))
	testenv.Must(t, err)
	return signing
}

// writeTronVectors writes the vectors for the tests of chains/tron, which do not need Node.
func writeTronVectors(t *testing.T, made []tronBuilt) {
	t.Helper()
	text, err := json.MarshalIndent(map[string]any{
		"source": "made with tronweb 6.5.1 by interop/tron_test.go -update-tron; test-only key", "privateKey": tronKeys[0], "transactions": made,
	}, "", " ")
	testenv.Must(t, err)
	path := filepath.Join(testenv.Root(), "chains", "tron", "testdata", "tronweb.json")
	testenv.Must(t, os.WriteFile(path, append(text, '\n'), 0o644))
}
