package approvals_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/postgres"
)

// If this variable is set, TestHelperProcess is a process that sends the last vote
// described in it, blocks where it says, and waits to be killed.
const victimVariable = "COUNTERSIGN_TEST_VICTIM"

// victim describes such a process.
type victim struct {
	Bolt, Postgres string // the store: one of both
	Where          string // "signing" or "recording"
	Ann, Ben       string // public keys of the voters
	Submitter      string
	Last           countersign.SignedBody
	Now            time.Time // zero: the machine's clock
}

func (v *victim) store(t testing.TB) store.Store {
	t.Helper()
	var opened store.Store
	var err error
	if v.Bolt != "" {
		opened, err = bolt.Open(v.Bolt)
	} else {
		opened, err = postgres.Open(t.Context(), v.Postgres)
	}
	testenv.Must(t, err)
	return opened
}

// blockingStore is a store whose Complete never returns.
type blockingStore struct{ store.Full }

func (s blockingStore) Complete(context.Context, store.Lease, store.Activity, store.Change) error {
	fmt.Println("recording")
	select {}
}

// TestHelperProcess is the process that is killed.
func TestHelperProcess(t *testing.T) {
	text := os.Getenv(victimVariable)
	if text == "" {
		return // this is not such a process
	}
	var v victim
	testenv.JSON(t, []byte(text), &v)
	b := newLimitedBallot(t, func(config *countersign.Config) {
		config.Store, config.LeaseTTL = v.store(t), time.Second
		config.Now = func() time.Time { return v.Now }
		if v.Now.IsZero() {
			config.Now = time.Now
		}
		if v.Where == "recording" {
			config.Store = blockingStore{config.Store.(store.Full)}
		}
	})
	b.Policy.Charges[0].Subject = v.Where
	b.Ann.PublicKey, b.Ben.PublicKey, b.APIKey.PublicKey = v.Ann, v.Ben, v.Submitter
	b.Register("finance", "finance")
	if v.Where == "signing" {
		b.Signing.Before = func(context.Context) error {
			fmt.Println("signing")
			select {}
		}
	}
	record, err := b.Engine.Submit(t.Context(), v.Last)
	t.Fatalf("the process was not killed: %+v, %v", record, err)
}

// kill starts the process and kills it where it blocks.
func (v *victim) kill(t *testing.T) {
	t.Helper()
	text := testenv.Encode(t, v)
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
	command.Env = append(os.Environ(), victimVariable+"="+string(text))
	pipe, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	var output []string
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		output = append(output, lines.Text())
		if lines.Text() == v.Where {
			testenv.Must(t, command.Process.Kill())
		}
	}
	_ = command.Wait() // killed
	if len(output) != 1 || output[0] != v.Where {
		t.Fatalf("the process output\n%s", strings.Join(output, "\n"))
	}
}

// TestKillBetweenLastVoteAndRecord kills a process with SIGKILL after it counted the
// last vote: before it signs, and with a signature that is not recorded. The vote is in
// the store; the activity is carried out by a repeated vote or by the sweep; the limit
// is charged once.
func TestKillBetweenLastVoteAndRecord(t *testing.T) {
	testenv.Slow(t)
	for _, where := range []string{"signing", "recording"} {
		t.Run("bolt/"+where, func(t *testing.T) { killedOnBolt(t, where) })
	}
	t.Run("postgres", func(t *testing.T) {
		dsn := testenv.Postgres(t).DSN
		for _, where := range []string{"signing", "recording"} {
			t.Run(where, func(t *testing.T) { killedOnPostgres(t, dsn, where) })
		}
	})
}

// killedOnBolt hands a database file from process to process.
func killedOnBolt(t *testing.T, where string) {
	path := filepath.Join(t.TempDir(), "state.db")
	v := &victim{Bolt: path, Where: where}
	b := newLimitedBallot(t, func(config *countersign.Config) {
		config.Store, config.LeaseTTL, config.Keystore = v.store(t), time.Second, staysOpen{config.Keystore}
	})
	b.Policy.Charges[0].Subject = where
	waiting := b.Waiting()
	b.Approve(b.Ann, waiting)
	prepare(b, v, waiting)
	v.Now = b.Clock.Now()
	reopen(b, nil)
	v.kill(t)
	reopen(b, v.store(t))
	held := b.Again(waiting)
	b.Is(held, activity.StatusConsensusNeeded)
	if len(held.Votes) != 3 {
		t.Fatalf("%d votes outlived the process, want all 3", len(held.Votes))
	}
	b.Clock.Advance(2 * time.Second)
	b.Resume()
	checkKilled(b, waiting, v)
}

// staysOpen is a keystore that outlives its engine.
type staysOpen struct{ keystore.Keystore }

func (staysOpen) Close() error { return nil }

// reopen closes the engine with its store, or, given a store, opens another engine over
// it.
func reopen(b *ballot.Ballot, opened store.Store) {
	b.T.Helper()
	if opened == nil {
		testenv.Must(b.T, b.Engine.Close())
		return
	}
	b.Config.Store = opened
	b.Engine = b.Second(b.T)
}

// prepare gives the process the last vote and the keys that it needs to count it.
func prepare(b *ballot.Ballot, v *victim, on *activity.Record) {
	v.Ann, v.Ben, v.Submitter = b.Ann.PublicKey, b.Ben.PublicKey, b.APIKey.PublicKey
	digest := on.Reading.Digest()
	v.Last = b.Ben.Sign(b.VoteBody(activity.TypeApproveActivity, on, fmt.Sprintf("%x", digest)))
}

// checkKilled checks that there is one recorded signature, charged once, however often it
// is asked for.
func checkKilled(b *ballot.Ballot, waiting *activity.Record, v *victim) {
	b.T.Helper()
	for range 3 {
		again, err := b.Engine.Submit(b.T.Context(), v.Last)
		testenv.Must(b.T, err)
		b.Is(again, activity.StatusCompleted)
		if again.ID != waiting.ID || again.Result != (activity.SignTransactionResult{SignedTransaction: enginetest.Signed}) || len(again.Votes) != 3 {
			b.T.Fatalf("answered %+v", again)
		}
	}
	b.WantSignatures(b.T, 1)
	wantSpent(b, 1)
}

// killedOnPostgres kills one of two nodes. The other one receives the vote again and
// waits for the lease of the dead node to expire.
func killedOnPostgres(t *testing.T, dsn, where string) {
	v := &victim{Postgres: dsn, Where: where}
	b := newLimitedBallot(t, func(config *countersign.Config) {
		config.Store, config.LeaseTTL, config.Now = v.store(t), time.Second, time.Now
	})
	b.Clock = enginetest.NewClock(time.Now())
	b.Policy.Charges[0].Subject = where
	waiting := b.Waiting()
	b.Approve(b.Ann, waiting)
	prepare(b, v, waiting)
	v.kill(t)
	checkKilled(b, waiting, v)
}
