package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/translog"
)

// loggedTurns is how many round trips an activity with its leaf takes.
const loggedTurns = 2

// TestLogBetween has a node append to a log while another one does: before each
// round trip of the first, the second completes an activity of its own, or waits
// for the first's lock; then the first's statements get lost, or their answer, or
// its session is ended. No leaf is lost, none is there twice, and the log that was
// seen before is a prefix of it.
func TestLogBetween(t *testing.T) {
	server := testenv.Postgres(t)
	for name, verdict := range map[string]verdict{
		"nothing happens": passes,
		"statements lost": isLost,
		"answer lost":     losesReply,
		"session ended":   isEnded,
	} {
		t.Run(name, func(t *testing.T) {
			dsn := schema(t, server)
			p, address := through(t, dsn)
			one, other := open(t, address), open(t, dsn)
			n := 1
			for ; appendBetween(t, p, one, other, dsn, n, verdict); n++ {
			}
			if n-1 != loggedTurns {
				t.Errorf("an activity with its leaf takes %d round trips, want %d", n-1, loggedTurns)
			}
			auditLog(t, one, 3*n) // in each round, one activity before, and one of each node
		})
	}
}

// isEnded has an administrator end the session before its statements arrive.
const isEnded verdict = -1

// appendBetween completes an activity on each node, the other's before the nth round
// trip of the first's. It returns whether there was one.
func appendBetween(t *testing.T, p *proxy, one, other *postgres.Store, dsn string, n int, happens verdict) bool {
	completeLogged(t, one, fmt.Sprint("before ", n))
	seen, err := one.LogHead(t.Context(), "org")
	testenv.Must(t, err)
	mine, theirs := fmt.Sprint("one ", n), fmt.Sprint("other ", n)
	lease, otherLease := take(t, one, mine), take(t, other, theirs)
	competed := make(chan error, 1)
	met := p.at(n, func(string) verdict {
		go func() {
			competed <- other.Complete(context.WithoutCancel(t.Context()), otherLease, loggedOf(t, theirs), nil)
		}()
		for len(competed) == 0 && count(t, dsn, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0 {
		}
		if happens == isEnded {
			execute(t, dsn, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
				WHERE backend_type = 'client backend' AND state = 'idle in transaction'`)
			return passes
		}
		return happens
	})
	err = one.Complete(t.Context(), lease, loggedOf(t, mine), nil)
	if !met() {
		competed <- other.Complete(t.Context(), otherLease, loggedOf(t, theirs), nil)
	}
	if err := <-competed; err != nil {
		t.Errorf("the other node, before round trip %d: %v", n, err)
	}
	if err != nil {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("before round trip %d: %v", n, err)
		}
		completeAgain(t, one, lease, mine)
	}
	source := store.LogOf(one, "org")
	head, err := source.Head(t.Context())
	testenv.Must(t, err)
	if proof, err := translog.Consistency(t.Context(), source, head.Size, seen.Size); err != nil {
		t.Errorf("the log does not extend the one before: %v, %v", proof, err)
	}
	if was, err := translog.TreeAt(t.Context(), source, seen.Size); err != nil || was != seen.Tree() {
		t.Errorf("the log of %d leaves was %v and is %v, %v", seen.Size, seen.Tree(), was, err)
	}
	return met()
}

// completeAgain does what an engine does when it does not know whether its activity
// was recorded: it looks, and completes it if it was not.
func completeAgain(t *testing.T, s *postgres.Store, lease store.Lease, body string) {
	t.Helper()
	begun, err := s.Begin(t.Context(), claimOf(body), nil)
	switch {
	case err != nil:
		t.Fatal(err)
	case begun.Recorded != nil:
		return
	}
	if err := s.Complete(t.Context(), lease, loggedOf(t, body), nil); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

// auditLog expects that each activity has one leaf, and each leaf its record.
func auditLog(t *testing.T, s *postgres.Store, leaves int) {
	t.Helper()
	found := map[string]int{}
	seen, err := translog.Audit(t.Context(), store.LogOf(s, "org"), nil, func(ctx context.Context, leaf translog.Leaf) ([]byte, error) {
		found[leaf.ID]++
		recorded, err := s.Get(ctx, leaf.Organization, leaf.ID)
		return recorded.Data, err
	})
	if err != nil || seen.Leaves != int64(leaves) || len(found) != leaves {
		t.Errorf("the log has %d leaves of %d activities, want %d: %v", seen.Leaves, len(found), leaves, err)
	}
}

// TestSilentNode: a node that stops while it has the lock of a log keeps the others
// waiting until the database ends its transaction, and no longer. What it was about
// to append is refused, and can be appended anew.
func TestSilentNode(t *testing.T) {
	t.Cleanup(postgres.SetSilenceLimit(100 * time.Millisecond))
	server := testenv.Postgres(t)
	dsn := schema(t, server)
	p, address := through(t, dsn)
	one, other := open(t, address), open(t, dsn)
	lease := take(t, one, "silent")
	others := take(t, other, "other")
	met := p.at(loggedTurns, func(string) verdict { // the node goes on when the other is done
		testenv.Await(t, "the other node", func() bool { // which on a busy machine is silent, too
			err := other.Complete(t.Context(), others, loggedOf(t, "other"), nil)
			return err == nil || errors.Is(err, store.ErrLeaseLost)
		})
		return passes
	})
	if err := one.Complete(t.Context(), lease, loggedOf(t, "silent"), nil); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the silent node: %v", err)
	}
	if !met() {
		t.Fatal("there were fewer round trips")
	}
	completeAgain(t, one, lease, "silent")
	auditLog(t, one, 2)
}
