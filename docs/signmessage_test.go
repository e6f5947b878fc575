package docs_test

import (
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestSignMessage signs a personal message as messages.md shows.
func TestSignMessage(t *testing.T) {
	engine, ctx, organizationID, address := enginetest.New(t).Engine, t.Context(), enginetest.Organization, enginetest.Address

	text := "Please sign this message to connect to Foundation." // of a template that ships
	signature, err := engine.SignMessage(ctx, organizationID, activity.SignMessageIntent{
		SignWith:     address,
		Payload:      fmt.Sprintf("\x19Ethereum Signed Message:\n%d%s", len(text), text),
		Encoding:     activity.EncodingText,
		HashFunction: activity.HashKeccak256,
	})
	testenv.Must(t, err)
	if len(signature.R) != 64 || len(signature.S) != 64 || signature.V != "00" && signature.V != "01" {
		t.Errorf("%+v", signature)
	}
}
