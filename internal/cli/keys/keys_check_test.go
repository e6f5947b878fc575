package keys

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/solana"
)

// TestCheckMessage: what keys check has an Ed25519 key sign is no transaction of Solana and not
// one of its messages.
func TestCheckMessage(t *testing.T) {
	if checkMessage[0] != 0xff || strings.HasPrefix(checkMessage, "\xffsolana offchain") {
		t.Errorf("message %q", checkMessage)
	}
	if tx, err := solana.New(solana.Limits{}).Parse([]byte(checkMessage)); err == nil {
		t.Errorf("it is the transaction %v", tx.Summary())
	}
}
