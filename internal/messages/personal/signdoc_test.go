package personal_test

import (
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/personal"
)

// TestSignDoc: what a chain of Cosmos signs in JSON is a transaction, such as a transfer on Initia,
// however it is laid out, and other JSON is none.
func TestSignDoc(t *testing.T) {
	const transfer = `{"account_number":"7","chain_id":"interwoven-1","fee":{"amount":[{"amount":"3095","denom":"uinit"}],"gas":"200273"},"memo":"","msgs":[{"type":"cosmos-sdk/MsgSend","value":{}}],"sequence":"334"}`
	for text, want := range map[string]bool{
		transfer:                true,
		" \n" + transfer + "\n": true,
		"{\n  \"msgs\": [],\n  \"sequence\": \"1\",\n  \"chain_id\": \"a\",\n  \"account_number\": \"1\"\n}": true,
		`{"name":"a","chain_id":"1"}`:                                          false,
		`The members are "account_number", "chain_id", "msgs" and "sequence".`: false,
	} {
		if got := slices.Contains(chaintest.Names(personal.TextHazards([]byte(text))), personal.HazardTransactionLike); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
