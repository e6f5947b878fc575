package fuzz

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// requestTypes are the types of transactions, in the order of FuzzSignRequest's first
// argument.
var requestTypes = all.TransactionTypes()

// FuzzSignRequest checks that the engine answers any request on any chain with a
// result or with an *activity.Error that is the caller's fault.
func FuzzSignRequest(f *testing.F) {
	keys := memory.New()
	for number, kind := range requestTypes {
		chain := strings.ToLower(strings.TrimPrefix(string(kind), "TRANSACTION_TYPE_"))
		for _, v := range vectorsOf(f, chain) {
			addKey(f, keys, v)
			f.Add(uint8(number), v.Address, v.UnsignedTransaction)
			f.Add(uint8(number), strings.ToLower(v.Address), "0X"+strings.ToUpper(v.UnsignedTransaction))
			f.Add(uint8(number+1), v.Address, v.UnsignedTransaction)
		}
	}
	f.Add(uint8(0), "key", "AuwBB4Q7msoAhQSoF8gA")
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys})
	testenv.Must(f, err)
	f.Cleanup(func() { engine.Close() })
	f.Fuzz(func(t *testing.T, number uint8, signWith, unsigned string) {
		result, err := engine.SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
			SignWith: signWith, Type: requestTypes[int(number)%len(requestTypes)], UnsignedTransaction: unsigned,
		})
		if err == nil {
			if _, err := hex.DecodeString(result.SignedTransaction); err != nil {
				t.Fatalf("%q is no hex", result.SignedTransaction)
			}
			return
		}
		refused, ok := errors.AsType[*activity.Error](err)
		if !ok || refused.Code == activity.CodeInternal || refused.Code == activity.CodeUnavailable || refused.Field == "" {
			t.Fatalf("signWith %q, unsigned %q: %#v", signWith, unsigned, err)
		}
	})
}

// addKey adds the key of a vector unless another vector has added it.
func addKey(f *testing.F, keys *memory.Store, v vector) {
	f.Helper()
	key := keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: testenv.Hex(f, strings.TrimPrefix(v.PrivateKey, "0x"))}
	if v.SecretKeySeedHex != "" {
		key = keystore.NewKey{Curve: keystore.CurveEd25519, Secret: testenv.Hex(f, v.SecretKeySeedHex)}
	}
	if _, err := keys.Add(f.Context(), "org", key); err != nil && !errors.Is(err, keystore.ErrKeyExists) {
		f.Fatal(err)
	}
}

// signsTo checks what an engine with a secp256k1 key signs a transaction to.
func signsTo(t *testing.T, kind activity.TransactionType, secret, unsigned, want []byte) {
	t.Helper()
	keys := memory.New()
	defer keys.Close()
	if _, err := keys.Add(t.Context(), "org", keystore.NewKey{ID: "key", Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		t.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, AllowHazards: []string{countersign.AllHazards}})
	testenv.Must(t, err)
	result, err := engine.SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
		SignWith: "key", Type: kind, UnsignedTransaction: hex.EncodeToString(unsigned),
	})
	if err != nil || result.SignedTransaction != hex.EncodeToString(want) {
		t.Fatalf("%x\n got %v (%v)\nwant %x", unsigned, result, err, want)
	}
}
