package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/approvals"
	"github.com/countersign-dev/countersign/internal/cli/console"
)

// quorum is an offline machine, in made/, that signs transactions approved by two users.
// The voters' API keys are ann.json and ben.json. The policy's daily limit has room for one
// transaction.
type quorum struct {
	*session
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
	q := &quorum{session: &session{t: t, dir: t.TempDir()}}
	var made struct{ OrganizationID string }
	if err := json.Unmarshal(q.must(nil, "init", "made"), &made); err != nil {
		t.Fatal(err)
	}
	q.organizationID = made.OrganizationID
	const configuration = "made/countersign.yaml"
	q.must([]byte(fixtureSecret+"\n"), "keys", "import", "--config", configuration, "--curve", "CURVE_SECP256K1")
	var users strings.Builder
	for _, name := range []string{"ann", "ben"} {
		users.Write(q.must(nil, "apikey", "new", "--name", name, "--tag", "finance", "--votes", "--config", configuration, "--out", name+".json"))
	}
	text := string(q.read(configuration))
	text = strings.Replace(text, "    allowHazards", "    policy: policy.yaml\n    allowHazards", 1)
	text = strings.Replace(text, "otp:\n", users.String()+"otp:\n", 1)
	q.write(configuration, []byte(text))
	q.write("made/policy.yaml", []byte(quorumPolicy))
	return q
}

// asks writes a request to sign the vector's transaction, and both users' votes on it. It
// returns the --vote flags.
func (q *quorum) asks(request string, at time.Time) (votes []string) {
	q.t.Helper()
	body := signBody(q.organizationID, fixtureAddress, vectorUnsigned, at)
	q.write(request, q.must(body, "stamp", "--api-key", "made/api-key.json"))
	for _, name := range []string{"ann", "ben"} {
		vote := name + "-" + request
		q.must(nil, "approve", "--yes", "--request", request, "--api-key", name+".json", "--out", vote)
		votes = append(votes, "--vote", vote)
	}
	return votes
}

// recorded returns the recorded activities, and what 'activities show' prints about the
// newest.
func (q *quorum) recorded() (lines []approvals.ActivityLine, shown string) {
	q.t.Helper()
	for line := range strings.Lines(string(q.must(nil, "activities", "list", "--config", "made/countersign.yaml"))) {
		var one approvals.ActivityLine
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			q.t.Fatal(err)
		}
		lines = append(lines, one)
	}
	if len(lines) == 0 {
		return nil, ""
	}
	_, stderr, status := q.run(nil, "activities", "show", "--config", "made/countersign.yaml", lines[0].ID)
	if status != console.ExitSuccess {
		q.t.Fatalf("exit status %d: %s", status, stderr)
	}
	return lines, string(stderr)
}

func (s *session) read(name string) []byte {
	s.t.Helper()
	content, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return content
}

func (s *session) write(name string, content []byte) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// remove removes files. They may be missing.
func (s *session) remove(names ...string) {
	s.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !os.IsNotExist(err) {
			s.t.Fatal(fmt.Errorf("remove: %w", err))
		}
	}
}
