package sign_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// deathVariable tells countersign-dying at which step to die, such as "before 3".
const deathVariable = "COUNTERSIGN_TEST_DEATH"

// dies runs countersign with a store that kills the process, by SIGKILL, before or after one
// of its write transactions.
func dies() {
	whole := deployment.OpenBolt
	deployment.OpenBolt = func(path string) (store.Full, error) {
		opened, err := whole(path)
		if err != nil {
			return nil, err
		}
		dying := &dyingStore{Store: opened.(*bolt.Store)}
		if _, err := fmt.Sscan(os.Getenv(deathVariable), &dying.when, &dying.left); err != nil {
			return nil, err
		}
		return dying, nil
	}
	clitest.Command()
}

// dyingStore counts down to its death.
type dyingStore struct {
	*bolt.Store
	when string
	left int
}

// step runs one transaction.
func (s *dyingStore) step(transact func() error) error {
	s.left--
	if s.left == 0 && s.when == "before" {
		die()
	}
	err := transact()
	if s.left == 0 {
		die()
	}
	return err
}

func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

func (s *dyingStore) Begin(ctx context.Context, claim store.Claim, change store.Change) (begun store.BeginResult, err error) {
	return begun, s.step(func() error { begun, err = s.Store.Begin(ctx, claim, change); return err })
}

func (s *dyingStore) Complete(ctx context.Context, lease store.Lease, one store.Activity, change store.Change) error {
	return s.step(func() error { return s.Store.Complete(ctx, lease, one, change) })
}

func (s *dyingStore) Replace(ctx context.Context, one store.Activity, now time.Time, change store.Change) error {
	return s.step(func() error { return s.Store.Replace(ctx, one, now, change) })
}

func (s *dyingStore) Change(ctx context.Context, organizationID string, change store.Change) error {
	return s.step(func() error { return s.Store.Change(ctx, organizationID, change) })
}

// TestSignWithVotesKilled kills `sign --request --vote --vote` before and after each
// transaction of its store. Repeating the call must give one answer: the request is recorded
// once, with both votes, and the limit, which has room for one, is charged once.
func TestSignWithVotesKilled(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	q := newQuorum(t)
	// The request takes 2 write transactions, each vote 2, and the last vote 2 more.
	q.killedThroughout(8, 3, q.asks("request.json", time.Now()))
}

// TestSignRequestKilled does the same for a request that needs no votes.
func TestSignRequestKilled(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	q := newQuorum(t)
	q.Write("made/policy.yaml", []byte(quorumWithoutVotes()))
	q.asks("request.json", time.Now())
	q.killedThroughout(2, 1, nil)
}

// killedThroughout kills a call before and after each transaction of its store. There must
// be at least least transactions, and the record must have votes of voters users.
func (q *quorum) killedThroughout(least, voters int, votes []string) {
	q.T.Helper()
	call := append([]string{"sign", "--yes", "--config", "made/countersign.yaml", "--request", "request.json", "--out", "signed.json"}, votes...)
	for _, when := range []string{"before", "after"} {
		step := 1
		for ; q.killed(when, step, call); step++ {
			q.once(call, voters, fmt.Sprintf("killed %s transaction %d", when, step))
			q.begunAnew()
		}
		q.begunAnew()
		q.T.Logf("killed %s each of %d transactions", when, step-1)
		if step <= least {
			q.T.Errorf("the call has %d transactions, want at least %d", step-1, least)
		}
	}
}

// begunAnew replaces the store by a new one, as on another machine.
func (q *quorum) begunAnew() {
	q.T.Helper()
	remove(q.Session, "made/state.db", "made/log.memory", "signed.json")
	q.Must(nil, "serve", "--check", "--new-store", "--config", "made/countersign.yaml")
}

// killed runs the call, and reports whether it was killed.
func (q *quorum) killed(when string, step int, call []string) bool {
	q.T.Helper()
	command := exec.CommandContext(q.T.Context(), "countersign-dying", call...)
	command.Dir = q.Dir
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", deathVariable, when, step))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	err := command.Run()
	if err != nil && command.ProcessState.ExitCode() != -1 {
		q.T.Fatalf("%s transaction %d: it was not killed: %v: %s", when, step, err, stderr.String())
	}
	return err != nil
}

// once checks that the call continues where it was cut off, and then repeats its answer.
func (q *quorum) once(call []string, voters int, after string) {
	q.T.Helper()
	q.Must(nil, call...)
	first := q.Read("signed.json")
	q.Must(nil, call...)
	if !bytes.Equal(q.Read("signed.json"), first) || !bytes.Contains(first, []byte(`"signedTransaction":"`+clitest.Signed+`"`)) {
		q.T.Errorf("%s: answered %s, and then %s", after, first, q.Read("signed.json"))
	}
	if votes := bytes.Count(first, []byte(`"selection":"VOTE_SELECTION_APPROVED"`)); votes != 2*voters { // the record is in an answer twice
		q.T.Errorf("%s: %d votes: %s", after, votes, first)
	}
	lines, shown := q.recorded()
	if len(lines) != 1 || !strings.Contains(shown, "this activity 123, of 123 in 24h0m0s; left now 0\n") {
		q.T.Errorf("%s: %d activities; of the last:\n%s", after, len(lines), shown)
	}
}
