package postgres_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestBehindPooler has two nodes behind a PgBouncer that gives each transaction
// any of a few sessions. Nothing fails, and the sessions are left as they were.
func TestBehindPooler(t *testing.T) {
	const sessions, bodies, clients = 4, 300, 16
	server := testenv.Postgres(t)
	pooler := server.PgBouncer(sessions)
	nodes := []*postgres.Store{open(t, pooler), open(t, pooler)}
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for n := client; n < bodies; n += clients {
				body := fmt.Sprintf("%032d", n)
				if err := sendTo(t, nodes[n%2], body, body); err != nil {
					t.Errorf("body %d: %v", n, err)
				}
				if found, err := store.Recorded(t.Context(), nodes[1-n%2], claimOf(body)); err != nil || found == nil || found.ID != body {
					t.Errorf("body %d on the other node: %q, %v", n, found.ID, err)
				}
			}
		})
	}
	all.Wait()
	redeemed := redemption{id: "code"}
	redeemed.insert(t, nodes[0])
	if err := redeemed.carryOut(t.Context(), nodes[1]); err != nil {
		t.Error(err)
	}
	redeemed.once(t, nodes[0])
	if n := count(t, server.DSN, "SELECT count(*) FROM countersign_activities WHERE id IS NOT NULL"); n != bodies+1 {
		t.Errorf("%d activities, want %d", n, bodies+1)
	}
	if n := count(t, server.DSN, "SELECT count(*) FROM countersign_log_leaves"); n != bodies {
		t.Errorf("%d leaves, want %d", n, bodies)
	}
	for _, one := range nodes {
		if !one.SharesSessions() {
			t.Error("a node has not noticed the pooler")
		}
	}
	leftClean(t, pooler, sessions)
}

// sendTo does what an engine does with a request that changes nothing else, and records
// it under an id, with a leaf.
func sendTo(t *testing.T, s *postgres.Store, body, id string) error {
	begun, err := s.Begin(t.Context(), claimOf(body), nil)
	if err != nil {
		return err
	}
	return s.Complete(t.Context(), *begun.Lease, loggedAs(t, body, id), nil)
}

// leftClean takes all sessions of a pooler at once, and looks for what other
// clients would find in them.
func leftClean(t *testing.T, pooler string, sessions int) {
	t.Helper()
	pids := map[int]bool{}
	for range sessions {
		connection := connect(t, pooler)
		tx, err := connection.Begin(t.Context())
		testenv.Must(t, err)
		var pid int
		var left string
		// The pooler itself sets what a client names when it connects.
		if err := tx.QueryRow(t.Context(), `
			SELECT pg_backend_pid(), concat_ws(' ',
				(SELECT string_agg(name, ' ') FROM pg_settings WHERE source = 'session'
					AND name NOT IN ('client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings', 'application_name', 'transaction_isolation', 'transaction_read_only', 'transaction_deferrable')),
				(SELECT string_agg(name, ' ') FROM pg_prepared_statements),
				(SELECT string_agg(channel, ' ') FROM pg_listening_channels() AS channel),
				(SELECT string_agg(locktype, ' ') FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'),
				(SELECT string_agg(relname, ' ') FROM pg_class WHERE relpersistence = 't'))`, pgx.QueryExecModeExec).Scan(&pid, &left); err != nil {
			t.Fatal(err)
		}
		pids[pid] = true
		if left != "" {
			t.Errorf("left in a session: %s", left)
		}
	}
	if len(pids) != sessions {
		t.Errorf("%d sessions were seen, want %d", len(pids), sessions)
	}
}

// TestSessionChanged: a pooler that cannot be recognized is noticed when a
// prepared statement is gone, or is there already. No call fails.
func TestSessionChanged(t *testing.T) {
	server := testenv.Postgres(t)
	for name, change := range map[string]func(s *postgres.Store) error{
		"gone":          func(s *postgres.Store) error { return s.ForgetStatements(t.Context()) },
		"there already": func(s *postgres.Store) error { return s.ForeignStatements(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, schema(t, server)+" pool_max_conns=1")
			redeem := func(body string) {
				r := redemption{id: body}
				r.insert(t, s)
				testenv.Must(t, r.carryOut(t.Context(), s))
				r.once(t, s)
				completeLogged(t, s, "logged "+body)
			}
			redeem("before")
			if s.SharesSessions() {
				t.Fatal("it takes the server for a pooler")
			}
			testenv.Must(t, change(s))
			redeem("after")
			if !s.SharesSessions() {
				t.Error("it has not noticed")
			}
		})
	}
}

// TestPlansOfOtherSessions: with the planner as it is, and with and without
// statistics, no statement reads a large table to find a row.
func TestPlansOfOtherSessions(t *testing.T) {
	server := testenv.Postgres(t)
	pooler := server.PgBouncer(2)
	s := open(t, pooler)
	rows := fmt.Sprintf("FROM generate_series(1, %d) AS n", testenv.Some(50_000))
	for _, statement := range []string{
		"ANALYZE", // of empty tables
		`INSERT INTO countersign_activities (organization_id, fingerprint, lease, lease_until, id, submitted_by,
				user_id, type, status, data, keep_until, revision)
			SELECT 'org', decode(md5(n::text) || md5(n::text), 'hex'), '', '-infinity', 'a' || lpad(n::text, 31, '0'),
				'c', 'u' || n % 7, 't', 'COMPLETED', decode(md5(n::text), 'hex'), 'infinity', 1 ` + rows,
		`INSERT INTO countersign_ledgers SELECT 'org', decode('01' || md5(n::text) || md5(n::text), 'hex'), '\x01', now() + interval '1 day' ` + rows,
		`INSERT INTO countersign_log_leaves SELECT 'other', n, 'a' || n, '\x01', '\x01' ` + rows,
		"ALTER ROLE postgres SET auto_explain.log_min_duration = 0",
		"ALTER ROLE postgres SET session_preload_libraries = auto_explain",
	} {
		execute(t, server.DSN, statement)
	}
	for round := range 2 {
		execute(t, server.DSN, `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
		for n := range 20 {
			everyStatement(t, s, fmt.Sprintf("%d %d", round, n))
		}
		execute(t, server.DSN, "ANALYZE")
	}
	checkPlans(t, server.Log(), 500)
}

// everyStatement has a store execute its statements of few rows.
func everyStatement(t *testing.T, s *postgres.Store, body string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		testenv.Must(t, err)
	}
	r := redemption{id: "code " + body}
	r.insert(t, s)
	must(r.carryOut(t.Context(), s))
	completeLogged(t, s, "logged "+body)
	var together sync.WaitGroup
	for n := range 5 {
		together.Go(func() {
			if err := sendTo(t, s, fmt.Sprint("batch ", n, " ", body), fmt.Sprint("batch ", n, " ", body)); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	lease, err := s.Renew(t.Context(), take(t, s, "lease "+body), time.Hour, time.Now())
	must(err)
	must(s.Release(t.Context(), lease, nil))
	_, err = s.Begin(t.Context(), claimOf("logged "+body), without(func(otpledger.Ledger) error { return nil }))
	must(err)
	_, err = s.Get(t.Context(), "org", "logged "+body)
	must(err)
	_, err = s.List(t.Context(), "org", store.Filter{Limit: 10, Types: []string{"t3"}, Before: "a0"})
	must(err)
	_, err = s.Waiting(t.Context())
	must(err)
	index, err := s.LogIndex(t.Context(), "org", "logged "+body)
	must(err)
	_, err = s.LogRows(t.Context(), "org", []int64{index, 0})
	must(err)
	_, err = s.Sweep(t.Context(), time.Now())
	must(err)
	must(s.Ping(t.Context()))
}

// TestPoolerContract is the contract of stores behind a pooler. It takes a minute: it runs
// if COUNTERSIGN_PROVE is set.
func TestPoolerContract(t *testing.T) {
	if os.Getenv("COUNTERSIGN_PROVE") == "" {
		t.Skip("takes a minute: run it with COUNTERSIGN_PROVE=1, as make ci does")
	}
	server := testenv.Postgres(t)
	pooler := server.PgBouncer(3)
	database := func(t testing.TB) string {
		name := fmt.Sprintf("pooled%d", schemas.Add(1))
		execute(t, server.DSN, "CREATE DATABASE "+name)
		return strings.Replace(pooler, "dbname=postgres", "dbname="+name, 1)
	}
	runContract(t, database)
}
