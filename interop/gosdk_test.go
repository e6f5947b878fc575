package interop

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestGoClient signs and queries with the public Go client, which also validates every
// answer.
func TestGoClient(t *testing.T) {
	fixture := enginetest.New(t, func(c *countersign.Config) { c.Now = time.Now })
	got := askGoClient(t, fixture, "")
	if got.Signed != enginetest.Signed || got.Found != enginetest.Signed || got.Username != "ci" || got.ActivityID == "" {
		t.Errorf("answered %+v", got)
	}
	if !strings.Contains(got.Refusal, "ethereum: ") {
		t.Errorf("the refusal is shown as %s", got.Refusal)
	}
}

// goClientStep is an activity that a call of the client returned.
type goClientStep struct {
	Call, ID, Status, Signed string
	Votes                    int
	CanApprove, CanReject    bool
}

// TestGoClientVotes checks that an activity that needs a vote is returned without an
// error, and that the client can list, approve and reject it and read the outcome. The
// client validates every answer.
func TestGoClientVotes(t *testing.T) {
	fixture, ann := newVoters(t, oneOfFinance)
	got := askGoClient(t, fixture, ann.PrivateKey())
	if len(got.Steps) != 8 {
		t.Fatalf("%d steps: %+v", len(got.Steps), got.Steps)
	}
	waits := goClientStep{Status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", Votes: 1}
	listed := goClientStep{Status: waits.Status, Votes: 1, CanApprove: true, CanReject: true}
	completed := goClientStep{Status: "ACTIVITY_STATUS_COMPLETED", Signed: enginetest.Signed, Votes: 2}
	rejected := goClientStep{Status: "ACTIVITY_STATUS_REJECTED", Votes: 2}
	for i, want := range []goClientStep{waits, listed, completed, completed, waits, listed, rejected, rejected} {
		want.ID, want.Call = got.Steps[i/4*4].ID, []string{"submit", "list", "vote", "get"}[i%4]
		if got.Steps[i] != want {
			t.Errorf("step %d: %+v, want %+v", i, got.Steps[i], want)
		}
	}
	if signed := fixture.Signing.Signatures.Load(); signed != 1 || got.Steps[0].ID == got.Steps[4].ID {
		t.Errorf("%d signatures of two activities: %+v", signed, got.Steps)
	}
}

// goClientAnswer is what the program prints.
type goClientAnswer struct {
	Signed, ActivityID, Found, Username, Refusal string
	Steps                                        []goClientStep
}

// askGoClient runs the client against a server of the fixture, with the key of a voter
// unless voter is empty.
func askGoClient(t *testing.T, fixture *enginetest.Fixture, voter string) (got goClientAnswer) {
	t.Helper()
	program := testenv.GoProgram(t, "interop/gosdk", ".")
	server := httptest.NewServer(httpapi.New(fixture.Engine, httpapi.Options{}))
	defer server.Close()
	question, err := json.Marshal(map[string]string{
		"host": strings.TrimPrefix(server.URL, "http://"), "organizationId": enginetest.Organization, "voterPrivateKey": voter,
		"apiPrivateKey": fixture.APIKey.PrivateKey(), "signWith": enginetest.Address, "unsignedTransaction": enginetest.Unsigned,
	})
	testenv.Must(t, err)
	command := exec.CommandContext(t.Context(), program)
	command.Stdin = strings.NewReader(string(question))
	out, err := command.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("%v: %s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	testenv.JSON(t, out, &got)
	return got
}
