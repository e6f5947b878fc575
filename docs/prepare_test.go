package docs_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/enginetest"
)

// TestPrepare shows a transaction, and signs it.
func TestPrepare(t *testing.T) {
	engine, ctx, organizationID := enginetest.New(t).Engine, t.Context(), enginetest.Organization
	intent := activity.SignTransactionIntent{
		SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum,
	}
	yes, known := func() bool { return true }, names.New(all.Chains(all.Limits{})...)

	prepared, err := engine.Prepare(ctx, organizationID, intent)
	if err != nil {
		t.Fatal(err)
	}
	effects, err := prepared.Effects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, effect := range effects { // in sentences
		fmt.Fprintln(os.Stderr, chains.Wrap(chains.Sentence(effect, known), 0))
	}
	fields, err := prepared.SignerView(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := chains.Render(os.Stderr, append(prepared.Summary().Fields, fields...)); err != nil { // field by field
		t.Fatal(err)
	}
	if !yes() {
		return
	}
	signed, err := prepared.Sign(ctx)
	if err != nil || signed.(activity.SignTransactionResult).SignedTransaction != enginetest.Signed {
		t.Errorf("%v, %v", signed, err)
	}
}

// The reason of an error distinguishes refusals.
func Example_refusals() {
	err := error(activity.NewError(activity.ReasonHazardNotAllowed, "unsignedTransaction", nil, "…"))

	if refused, ok := errors.AsType[*activity.Error](err); ok {
		switch refused.Reason {
		case activity.ReasonHazardNotAllowed:
			fmt.Println("dangerous:", refused.Message)
		case activity.ReasonInvalidTransaction:
			fmt.Println("malformed:", refused.Message)
		case activity.ReasonNotAuthorized, activity.ReasonLimitExceeded:
			fmt.Println("against the policy:", refused.Message)
		case activity.ReasonNotFound:
			fmt.Println("no such key:", refused.Message)
		case activity.ReasonUnavailable:
			fmt.Println("try again:", refused.Message)
		default:
			log.Println(refused.Code, refused.Reason, refused.Message)
		}
	}
	// Output: dangerous: …
}
