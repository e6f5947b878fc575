package sign_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestSummaryDigest checks that the printed digest is that of the summary as printed.
func TestSummaryDigest(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	var printed struct {
		Summary       json.RawMessage
		SummaryDigest string
	}
	out := s.Must([]byte(clitest.Unsigned), "inspect", "--type", "TRANSACTION_TYPE_ETHEREUM", "--json")
	testenv.JSON(t, out, &printed)
	if digest := sha256.Sum256(printed.Summary); hex.EncodeToString(digest[:]) != printed.SummaryDigest {
		t.Errorf("the digest %s is not that of %s", printed.SummaryDigest, printed.Summary)
	}
}

// signedVector is a transaction in the chains' testdata that another library signed.
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
	testenv.Must(t, err)
	for _, file := range files {
		content := testenv.Read(t, file)
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

// readers returns the types whose readers accept a transaction, signed or not.
func readers(text string) (kinds []activity.TransactionType) {
	for _, kind := range all.TransactionTypes() {
		if _, err := show.InspectEither(kind, text, all.Limits{}); err == nil {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// TestOnlyOneChainReads checks that transactions of other libraries, unsigned and signed, are
// read by their own chain and by no other.
func TestOnlyOneChainReads(t *testing.T) {
	for _, vector := range signedVectors(t) {
		for what, text := range map[string]string{"unsigned": vector.Unsigned, "signed": vector.Signed} {
			if kinds := readers(text); !slices.Equal(kinds, []activity.TransactionType{vector.Type}) {
				_, err := show.InspectEither(vector.Type, text, all.Limits{})
				t.Errorf("%s, %s: read by %v: %v", vector.name, what, kinds, err)
			}
		}
	}
}

// TestSigners checks that a signed transaction has the same summary as the unsigned one, and
// the signer of the vector.
func TestSigners(t *testing.T) {
	for _, vector := range signedVectors(t) {
		before, err := show.InspectEither(vector.Type, vector.Unsigned, all.Limits{})
		if err != nil {
			t.Errorf("%s: %v", vector.name, err)
			continue
		}
		after, err := show.InspectEither(vector.Type, vector.Signed, all.Limits{})
		if err != nil {
			t.Errorf("%s, signed: %v", vector.name, err)
			continue
		}
		if vector.Type == activity.TransactionTypeBitcoin { // a PSBT: its inputs say it
			continue
		}
		if !after.Signed || !slices.ContainsFunc(after.Signers, func(by string) bool { return strings.EqualFold(by, vector.Address) }) {
			t.Errorf("%s: signed by %q, want %s", vector.name, after.Signers, vector.Address)
		}
		if slices.Contains(before.Signers, vector.Address) {
			t.Errorf("%s: the unsigned one is signed by %q", vector.name, before.Signers)
		}
		inPlace := vector.name == "tempo/feepayer.json" || vector.Type == activity.TransactionTypeSolana || vector.Type == activity.TransactionTypeTron
		if !inPlace && before.Summary.Digest() != after.Summary.Digest() {
			t.Errorf("%s: the signed one is shown as another", vector.name)
		}
	}
}

// TestAlteredSignedTransaction changes each byte of signed Ethereum transactions. None may
// still be attributed to the signer.
func TestAlteredSignedTransaction(t *testing.T) {
	for _, vector := range signedVectors(t) {
		if vector.Type != activity.TransactionTypeEthereum {
			continue
		}
		raw := testenv.Hex(t, strings.TrimPrefix(vector.Signed, "0x"))
		for i := range raw {
			raw[i] ^= 1
			seen, err := show.InspectEither(vector.Type, hex.EncodeToString(raw), all.Limits{})
			if err == nil && slices.ContainsFunc(seen.Signers, func(by string) bool { return strings.EqualFold(by, vector.Address) }) {
				t.Errorf("%s: with byte %d changed, %s has signed it", vector.name, i, vector.Address)
			}
			raw[i] ^= 1
		}
	}
}
