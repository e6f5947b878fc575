package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// sdk runs @turnkey/http, the unmodified public client of the hosted service, in a process
// that trusts one certificate.
type sdk struct {
	url, signWith string
	in            io.Writer
	out           *bufio.Scanner
}

func newSDK(t *testing.T, s *clitest.Served, url, certificate string) *sdk {
	t.Helper()
	command := testenv.Node(t, "clients.mjs")
	command.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+certificate)
	in, err := command.StdinPipe()
	testenv.Must(t, err)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	testenv.Must(t, err)
	t.Cleanup(func() {
		_ = in.Close()
		if err := command.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("node: %v", err)
		}
	})
	started := &sdk{url: url, signWith: s.Signer, in: in, out: bufio.NewScanner(out)}
	started.out.Buffer(nil, 1<<20)
	return started
}

// sdkActivity is an activity as the client returns it.
type sdkActivity struct {
	Activity struct {
		ID, Status string
		Votes      []struct{ Message string }
		Result     struct {
			SignTransactionResult struct{ SignedTransaction string }
		}
	}
}

// asks makes the client perform an operation with an API key. The members of line are added
// to the ones that every operation has.
func (c *sdk) asks(t *testing.T, op, keyFile string, line map[string]any) (got sdkActivity) {
	t.Helper()
	var key struct{ OrganizationID, PublicKey, PrivateKey string }
	content, err := os.ReadFile(keyFile)
	if err == nil {
		err = json.Unmarshal(content, &key)
	}
	testenv.Must(t, err)
	whole := map[string]any{
		"op": op, "client": "http", "baseUrl": c.url, "signWith": c.signWith,
		"organizationId": key.OrganizationID, "apiPublicKey": key.PublicKey, "apiPrivateKey": key.PrivateKey,
	}
	maps.Copy(whole, line)
	if _, err := fmt.Fprintf(c.in, "%s\n", console.JSONLine(whole)); err != nil || !c.out.Scan() {
		t.Fatalf("%s by the SDK: no answer: %v, %v", op, err, c.out.Err())
	}
	var answer struct {
		Value        json.RawMessage
		Error, Cause string
	}
	if err := json.Unmarshal(c.out.Bytes(), &answer); err != nil || answer.Error != "" {
		t.Fatalf("%s by the SDK: %s (%s), %v", op, answer.Error, answer.Cause, err)
	}
	if err := json.Unmarshal(answer.Value, &got); err != nil {
		t.Fatalf("%s by the SDK: %v: %s", op, err, answer.Value)
	}
	return got
}

// submits makes the client submit a transaction with proofs, and returns the activity and
// the request that was sent.
func (c *sdk) submits(t *testing.T, keyFile, unsigned string) (sdkActivity, *activity.Request) {
	t.Helper()
	got := c.asks(t, "activity", keyFile, map[string]any{"unsigned": unsigned, "proofs": true})
	if len(got.Activity.Votes) == 0 {
		t.Fatalf("the activity has no vote of its submitter: %+v", got)
	}
	request, err := activity.Decode([]byte(got.Activity.Votes[0].Message))
	testenv.Must(t, err)
	return got, request
}

// hasSigned checks that the client can read the signed transaction.
func (c *sdk) hasSigned(t *testing.T, keyFile, id, signed string) {
	t.Helper()
	got := c.asks(t, "getActivity", keyFile, map[string]any{"activityId": id})
	if got.Activity.Status != string(activity.StatusCompleted) || got.Activity.Result.SignTransactionResult.SignedTransaction != signed {
		t.Errorf("the SDK is shown %+v, want %s", got.Activity, signed)
	}
}
