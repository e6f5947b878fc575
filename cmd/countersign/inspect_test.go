package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// TestSummaryDigest: the digest that is printed is that of the bytes that are
// printed as the summary.
func TestSummaryDigest(t *testing.T) {
	s := newSession(t)
	var printed struct {
		Summary       json.RawMessage
		SummaryDigest string
	}
	out := s.must([]byte(vectorUnsigned), "inspect", "--type", "TRANSACTION_TYPE_ETHEREUM", "--json")
	if err := json.Unmarshal(out, &printed); err != nil {
		t.Fatal(err)
	}
	if digest := sha256.Sum256(printed.Summary); hex.EncodeToString(digest[:]) != printed.SummaryDigest {
		t.Errorf("the digest %s is not that of %s", printed.SummaryDigest, printed.Summary)
	}
}
