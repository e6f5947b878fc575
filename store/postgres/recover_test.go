package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

func claimOf(body string) store.Claim {
	claim := store.Claim{OrganizationID: "org", LeaseTTL: time.Hour, Now: time.Now()}
	copy(claim.Fingerprint[:], body)
	return claim
}

func activityOf(body string) store.Activity {
	return store.Activity{ID: body, Data: []byte("record of " + body)}
}

func complete(t *testing.T, s store.Store, body string) {
	t.Helper()
	begun, err := s.Begin(t.Context(), claimOf(body), nil)
	testenv.Must(t, err)
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, activityOf(body), nil))
}

// TestDatabaseGoesAndComesBack takes the database away between Begin and
// Complete: nothing is completed, the errors say so, and when it is back the
// same store goes on. What was completed before has stayed.
func TestDatabaseGoesAndComesBack(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, server.DSN)
	for _, takeAway := range []func(){server.Stop, server.Crash} {
		before := "before " + time.Now().String()[:25]
		complete(t, s, before)
		held := claimOf("held " + time.Now().String())
		begun, err := s.Begin(t.Context(), held, without(func(otpledger.Ledger) error { return nil })) // waits for the disk
		testenv.Must(t, err)
		takeAway()
		if err := s.Complete(t.Context(), *begun.Lease, activityOf("held"), nil); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("Complete without a database: %v", err)
		}
		if _, err := s.Begin(t.Context(), claimOf("new"), nil); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("Begin without a database: %v", err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("Ping without a database: %v", err)
		}
		if _, err := postgres.Open(t.Context(), server.DSN); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("Open without a database: %v", err)
		}
		server.Start()
		if err := s.Ping(t.Context()); err != nil {
			t.Fatalf("Ping with a database again: %v", err)
		}
		if got, err := s.Get(t.Context(), "org", before); err != nil || string(got.Data) != "record of "+before {
			t.Fatalf("what was completed before: %q, %v", got.Data, err)
		}
		if _, err := s.Get(t.Context(), "org", "held"); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("what was not completed: %v", err)
		}
		if err := s.Complete(t.Context(), *begun.Lease, activityOf(before+" held"), nil); err != nil {
			t.Fatalf("the lease outlives the database's absence: %v", err)
		}
	}
}

// TestRestartedBetweenCalls restarts the database while nothing is asked of it:
// the next call does not fail over its old connections.
func TestRestartedBetweenCalls(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, server.DSN)
	for _, complete := range []func(t *testing.T, s store.Store, body string){complete, completeLogged} {
		body := fmt.Sprint(time.Now().UnixNano())
		complete(t, s, "before "+body)
		server.Stop()
		server.Start()
		complete(t, s, "after "+body)
	}
}

// TestSilentDatabase: one that takes connections and says nothing is as good as
// gone when the context ends.
func TestSilentDatabase(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = postgres.Open(ctx, "postgres://user@"+silent.Addr().String()+"/name?sslmode=disable")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestMalformedAddress(t *testing.T) {
	if _, err := postgres.Open(t.Context(), "postgres://user:hush@host:port/"); err == nil || errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), "hush") {
		t.Fatalf("a malformed address: %v", err)
	}
}
