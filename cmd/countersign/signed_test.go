package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// signedVector is what the chains' testdata has of a transaction that another library
// signed.
type signedVector struct {
	name     string
	Type     activity.TransactionType
	Address  string
	Unsigned string `json:"unsignedTransaction"`
	Signed   string `json:"signedTransaction"`
}

func signedVectors(t *testing.T) (vectors []signedVector) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testenv.Root(), "chains", "*", "testdata", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		vector := signedVector{name: filepath.Base(filepath.Dir(filepath.Dir(file))) + "/" + filepath.Base(file)}
		if json.Unmarshal(content, &vector) == nil && vector.Unsigned != "" && vector.Signed != "" {
			vectors = append(vectors, vector)
		}
	}
	if len(vectors) < 15 {
		t.Fatalf("%d vectors in testdata", len(vectors))
	}
	return vectors
}

// readers are the types whose readers take a transaction, signed or not.
func readers(text string) (kinds []activity.TransactionType) {
	for _, kind := range countersign.TransactionTypes() {
		if _, err := inspectEither(kind, text, countersign.Limits{}); err == nil {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// TestOneChainReadsATransaction: what other libraries made, before and after it was
// signed, is read by its own chain and by no other.
func TestOneChainReadsATransaction(t *testing.T) {
	for _, vector := range signedVectors(t) {
		for what, text := range map[string]string{"unsigned": vector.Unsigned, "signed": vector.Signed} {
			if kinds := readers(text); !slices.Equal(kinds, []activity.TransactionType{vector.Type}) {
				_, err := inspectEither(vector.Type, text, countersign.Limits{})
				t.Errorf("%s, %s: read by %v: %v", vector.name, what, kinds, err)
			}
		}
	}
}

// TestSignedTransactionSaysWhoSigned: it is shown as it was before it was signed, and the
// signer is the one of the vector.
func TestSignedTransactionSaysWhoSigned(t *testing.T) {
	for _, vector := range signedVectors(t) {
		before, err := inspectEither(vector.Type, vector.Unsigned, countersign.Limits{})
		if err != nil {
			t.Errorf("%s: %v", vector.name, err)
			continue
		}
		after, err := inspectEither(vector.Type, vector.Signed, countersign.Limits{})
		if err != nil {
			t.Errorf("%s, signed: %v", vector.name, err)
			continue
		}
		if vector.Type == activity.TransactionTypeBitcoin { // a PSBT: its inputs say it
			continue
		}
		if !after.signed || !slices.ContainsFunc(after.signers, func(by string) bool { return strings.EqualFold(by, vector.Address) }) {
			t.Errorf("%s: signed by %q, want %s", vector.name, after.signers, vector.Address)
		}
		if slices.Contains(before.signers, vector.Address) {
			t.Errorf("%s: the unsigned one is signed by %q", vector.name, before.signers)
		}
		inPlace := vector.name == "tempo/feepayer.json" || vector.Type == activity.TransactionTypeSolana || vector.Type == activity.TransactionTypeTron
		if !inPlace && before.Summary.Digest() != after.Summary.Digest() {
			t.Errorf("%s: the signed one is shown as another", vector.name)
		}
	}
}

// TestSignatureOfAnotherTransactionIsNotBelieved: each bit of a signed transaction of
// Ethereum that is turned makes it unreadable, or another, or another's.
func TestSignatureOfAnotherTransactionIsNotBelieved(t *testing.T) {
	for _, vector := range signedVectors(t) {
		if vector.Type != activity.TransactionTypeEthereum {
			continue
		}
		raw, err := hex.DecodeString(strings.TrimPrefix(vector.Signed, "0x"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw {
			raw[i] ^= 1
			seen, err := inspectEither(vector.Type, hex.EncodeToString(raw), countersign.Limits{})
			if err == nil && slices.ContainsFunc(seen.signers, func(by string) bool { return strings.EqualFold(by, vector.Address) }) {
				t.Errorf("%s: with byte %d changed, %s has signed it", vector.name, i, vector.Address)
			}
			raw[i] ^= 1
		}
	}
}
