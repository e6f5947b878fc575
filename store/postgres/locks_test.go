package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestLocksThatAreNone: a server that takes FOR UPDATE and locks nothing is refused by its name,
// when the tables are made and when they are there. So is one that does not say that a lock is held:
// it may be slow, and pass it all the same.
func TestLocksThatAreNone(t *testing.T) {
	t.Parallel() // it waits
	server := testenv.Postgres(t)
	dsn := schema(t, server)
	p, address := through(t, dsn)
	refused := func(rewrite func(string) string, words ...string) {
		t.Helper()
		p.rewrite = rewrite
		s, err := postgres.Open(t.Context(), address)
		if err == nil {
			_ = s.Close()
		}
		for _, word := range words {
			if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), word) {
				t.Errorf("opened with %v", err)
			}
		}
	}
	for range 2 {
		refused(func(statement string) string {
			before, _, _ := strings.Cut(statement, "FOR UPDATE")
			return before
		}, "PostgreSQL 1", "lets a second connection pass a lock")
	}
	refused(func(statement string) string { return strings.Replace(statement, "NOWAIT", "", 1) }, "does not say within 8s")
	complete(t, open(t, dsn), "a")
}

// leastSerializable is the part of the rate under READ COMMITTED that SERIALIZABLE has to reach.
const leastSerializable = 0.3

// TestSerializable has 64 clients of one organization, on two nodes, carry out requests, of which
// each fourth counts in one meter: each is answered also if the transactions of the database are
// SERIALIZABLE, and none is lost. The rates are compared if COUNTERSIGN_PROVE is set.
func TestSerializable(t *testing.T) {
	const clients = 64
	each := testenv.Some(20)
	server := testenv.Postgres(t)
	rates := map[string]float64{}
	for _, level := range []string{"read committed", "serializable"} {
		setting := "-c default_transaction_isolation=" + strings.ReplaceAll(level, " ", `\\ `)
		dsn := schema(t, server) + " options='" + setting + "'"
		nodes := []*postgres.Store{open(t, dsn), open(t, dsn)}
		began := time.Now()
		var all sync.WaitGroup
		for client := range clients {
			all.Go(func() {
				for n := range each {
					body := fmt.Sprintf("%02d %06d", client, n)
					if err := sendCounted(t, nodes[client%2], body, n%4 == 0); err != nil {
						t.Errorf("%s, client %d: %v", level, client, err)
					}
				}
			})
		}
		all.Wait()
		rates[level] = clients * float64(each) / time.Since(began).Seconds()
		auditLog(t, nodes[0], clients*each)
		got := count(t, dsn, "SELECT count(*) FROM countersign_activities WHERE id IS NOT NULL")
		if got != clients*each {
			t.Errorf("%s: %d activities, want %d", level, got, clients*each)
		}
	}
	ratio := rates["serializable"] / rates["read committed"]
	t.Logf("%.0f requests a second, %.2f of %.0f", rates["serializable"], ratio, rates["read committed"])
	if os.Getenv("COUNTERSIGN_PROVE") != "" && ratio < leastSerializable {
		t.Errorf("%.2f of the rate under READ COMMITTED, want %.2f", ratio, leastSerializable)
	}
}

// sendCounted does what an engine does with a request, which may count in a meter of all.
func sendCounted(t *testing.T, s *postgres.Store, body string, counts bool) error {
	if !counts {
		return sendTo(t, s, body, body)
	}
	begun, err := s.Begin(t.Context(), claimOf(body), without(func(ledger otpledger.Ledger) error {
		meters, err := ledger.Meters(meterKey)
		if err != nil {
			return err
		}
		meters[0].Sent = append(meters[0].Sent, otpledger.Event{At: int64(len(meters[0].Sent)), N: 1})
		return ledger.SetMeter(meterKey, meters[0])
	}))
	if err != nil {
		return err
	}
	return s.Complete(t.Context(), *begun.Lease, loggedOf(t, body), nil)
}
