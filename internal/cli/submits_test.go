package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
)

// signs submits request number number, which must succeed.
func (n *node) signs(t *testing.T, s *served, number int) recorded {
	t.Helper()
	one, err := n.submits(t, s, number)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func (n *node) submits(t *testing.T, s *served, number int) (recorded, error) {
	t.Helper()
	body := signBody(s.by.OrganizationID, s.signer, testTransaction(number), time.Now())
	answer, err := n.Post(t.Context(), "submit/sign_transaction", body)
	if err != nil {
		return recorded{body: body}, err
	}
	var got demoAnswer
	if err := json.Unmarshal(answer, &got); err != nil || got.Activity.ID == "" {
		t.Fatalf("%v: %s", err, answer)
	}
	return recorded{body, got.Activity.ID, answer}, nil
}

func isUnavailable(err error) bool {
	refused, ok := errors.AsType[*activity.Error](err)
	return ok && refused.Reason == activity.ReasonUnavailable && strings.Contains(refused.Message, "send the same body again")
}
