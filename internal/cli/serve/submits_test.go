package serve_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// signs submits request number number, which must succeed.
func signs(t *testing.T, n *clitest.Node, s *clitest.Served, number int) recorded {
	t.Helper()
	one, err := submits(t, n, s, number)
	testenv.Must(t, err)
	return one
}

func submits(t *testing.T, n *clitest.Node, s *clitest.Served, number int) (recorded, error) {
	t.Helper()
	body := clitest.SignBody(s.By.OrganizationID, s.Signer, clitest.NthTransaction(number), time.Now())
	answer, err := n.Post(t.Context(), "submit/sign_transaction", body)
	if err != nil {
		return recorded{body: body}, err
	}
	var got clitest.Answer
	if err := json.Unmarshal(answer, &got); err != nil || got.Activity.ID == "" {
		t.Fatalf("%v: %s", err, answer)
	}
	return recorded{body, got.Activity.ID, answer}, nil
}

func isUnavailable(err error) bool {
	refused, ok := errors.AsType[*activity.Error](err)
	return ok && refused.Reason == activity.ReasonUnavailable && strings.Contains(refused.Message, "send the same body again")
}
