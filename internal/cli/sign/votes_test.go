package sign_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/approvals"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// quorum is an offline machine, in made/, that signs transactions approved by two users.
// The voters' API keys are ann.json and ben.json. The policy's daily limit has room for one
// transaction.
type quorum struct {
	*clitest.Session
	organizationID string
}

const quorumPolicy = `schema: countersign.policy/2
assets: {main: {chain: "eip155:1", token: native}}
limits:
  - {name: day, asset: main, max: "0.000000000000000123", window: 24h, per: organization}
rules:
  - {name: payouts, allow: transfer, when: effect.asset == main, limit: day, approvals: [{count: 2, tag: finance, not: submitter}]}
  - {name: gas, allow: fee, when: "effect.amount <= ether('0.1')"}
`

// quorumWithoutVotes is the policy with the limit but without approvals.
func quorumWithoutVotes() string {
	return strings.Replace(quorumPolicy, ", approvals: [{count: 2, tag: finance, not: submitter}]", "", 1)
}

func newQuorum(t *testing.T) *quorum {
	t.Helper()
	q := &quorum{Session: &clitest.Session{T: t, Dir: t.TempDir()}}
	var made struct{ OrganizationID string }
	testenv.JSON(t, q.Must(nil, "init", "made"), &made)
	q.organizationID = made.OrganizationID
	const configuration = "made/countersign.yaml"
	q.Must([]byte(clitest.Secret+"\n"), "keys", "import", "--config", configuration, "--curve", "CURVE_SECP256K1")
	var users strings.Builder
	for _, name := range []string{"ann", "ben"} {
		users.Write(q.Must(nil, "apikey", "new", "--name", name, "--tag", "finance", "--votes", "--config", configuration, "--out", name+".json"))
	}
	text := string(q.Read(configuration))
	text = strings.Replace(text, "    allowHazards", "    policy: policy.yaml\n    allowHazards", 1)
	text = strings.Replace(text, "otp:\n", users.String()+"otp:\n", 1)
	q.Write(configuration, []byte(text))
	q.Write("made/policy.yaml", []byte(quorumPolicy))
	return q
}

// asks writes a request to sign the vector's transaction, and both users' votes on it. It
// returns the --vote flags.
func (q *quorum) asks(request string, at time.Time) (votes []string) {
	q.T.Helper()
	body := clitest.SignBody(q.organizationID, clitest.Address, clitest.Unsigned, at)
	q.Write(request, q.Must(body, "stamp", "--api-key", "made/api-key.json"))
	for _, name := range []string{"ann", "ben"} {
		vote := name + "-" + request
		q.Must(nil, "approve", "--yes", "--request", request, "--api-key", name+".json", "--out", vote)
		votes = append(votes, "--vote", vote)
	}
	return votes
}

// recorded returns the recorded activities, and what 'activities show' prints about the
// newest.
func (q *quorum) recorded() (lines []approvals.ActivityLine, shown string) {
	q.T.Helper()
	for line := range strings.Lines(string(q.Must(nil, "activities", "list", "--config", "made/countersign.yaml"))) {
		var one approvals.ActivityLine
		testenv.JSON(q.T, []byte(line), &one)
		lines = append(lines, one)
	}
	if len(lines) == 0 {
		return nil, ""
	}
	_, stderr, status := q.Run(nil, "activities", "show", "--config", "made/countersign.yaml", lines[0].ID)
	if status != console.ExitSuccess {
		q.T.Fatalf("exit status %d: %s", status, stderr)
	}
	return lines, string(stderr)
}

// remove removes files. They may be missing.
func remove(s *clitest.Session, names ...string) {
	s.T.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.Dir, name)); err != nil && !os.IsNotExist(err) {
			s.T.Fatal(fmt.Errorf("remove: %w", err))
		}
	}
}
