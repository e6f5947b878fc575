package docs_test

import (
	"context"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// signAs signs as the user that the subject of a JWT stands for.
func signAs(ctx context.Context, engine *countersign.Engine, users access.Users, subject string, intent activity.SignTransactionIntent) (activity.SignTransactionResult, error) {
	const organizationID = enginetest.Organization
	user, err := users.User(ctx, organizationID, subject)
	if err != nil {
		return activity.SignTransactionResult{}, err
	}
	return engine.As(*user, "JWT sub:"+subject).SignTransaction(ctx, organizationID, intent)
}

// TestCallerInGo signs as a user of the directory whom the program has authenticated in its
// own way. The record names the user and the way.
func TestCallerInGo(t *testing.T) {
	f := enginetest.New(t, func(c *countersign.Config) { c.Store = memory.New(0) })
	users, ok := f.Config.Directory.(access.Users)
	if !ok {
		t.Fatal("the directory finds no users by their ids")
	}
	ctx, userID := t.Context(), "user-1"
	intent := activity.SignTransactionIntent{
		SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum,
	}

	signed, err := signAs(ctx, f.Engine, users, userID, intent)
	testenv.Must(t, err)
	if signed.SignedTransaction != enginetest.Signed {
		t.Errorf("signed %s", signed.SignedTransaction)
	}
	listed, err := f.Config.Store.(store.Lister).List(ctx, enginetest.Organization, store.Filter{Limit: 2})
	if err != nil || len(listed) != 1 {
		t.Fatalf("%d activities, %v", len(listed), err)
	}
	record, err := activity.DecodeRecord(listed[0].Data)
	testenv.Must(t, err)
	if vote := record.Submitter(); vote.UserID != userID || vote.Scheme != "JWT sub:user-1" || vote.Signature != "" {
		t.Errorf("the record says %+v", vote)
	}
}
