package sign_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
)

// TestScannedUnderPolicy: with a policy, a request of another wallet is judged for the user
// that --as names, charged to the limits, and recorded. A second request is over the limit,
// and refused without a question.
func TestScannedUnderPolicy(t *testing.T) {
	t.Parallel()
	q := newQuorum(t)
	code := strings.ToUpper(ethRequest(t).Message().String())
	scan := func(answer string, args ...string) (string, string, int) {
		return q.Scanned(code, answer, append([]string{"--config", "made/countersign.yaml"}, args...)...)
	}
	_, stderr, status := scan("", "--as", "admin")
	if status != console.ExitFailure || !strings.Contains(stderr, "rule payouts needs more approvals of users with the tag finance (2 missing), for which only a submitted transaction can wait") {
		t.Errorf("without votes: exit status %d: %s", status, stderr)
	}
	q.Write("made/policy.yaml", []byte(quorumWithoutVotes()))
	for name, why := range map[string]string{"": "--as is missing: the organization has a policy", "stranger": "the organization has no such user"} {
		args := []string{"--as", name}
		if _, stderr, status := scan("", args[:2*min(len(name), 1)]...); status != console.ExitUsage || !strings.Contains(stderr, why) {
			t.Errorf("as %q: exit status %d: %s", name, status, stderr)
		}
	}
	stdout, stderr, status := scan("y\n", "--as", "admin")
	if status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	clitest.Collected(t, stdout, ur.TypeEthSignature)
	lines, shown := q.recorded()
	if len(lines) != 1 || lines[0].User != "admin" || !strings.Contains(shown, "left now 0\n") {
		t.Errorf("%d activities, of %+v:\n%s", len(lines), lines, shown)
	}
	stdout, stderr, status = scan("y\n", "--as", "admin") // answered from the record, and not charged
	clitest.Collected(t, stdout, ur.TypeEthSignature)
	if lines, shown = q.recorded(); status != console.ExitSuccess || len(lines) != 1 || !strings.Contains(shown, "left now 0\n") {
		t.Errorf("over the limit: exit status %d: %s%s", status, stdout, stderr)
	}
}
