package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/store/storetest"
)

func open(t testing.TB, dsn string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var schemas atomic.Int32

// schema makes an empty schema and returns the address that leads into it.
func schema(t testing.TB, server *testenv.PostgreSQL) string {
	t.Helper()
	name := fmt.Sprintf("test%d", schemas.Add(1))
	execute(t, server.DSN, "CREATE SCHEMA "+name)
	return server.DSN + " search_path=" + name
}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), dsn)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	return connection
}

func execute(t testing.TB, dsn, statement string) {
	t.Helper()
	connection := connect(t, dsn)
	defer func() { _ = connection.Close(context.Background()) }() // there are not many
	if _, err := connection.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// TestContract also has the database explain what it does: see checkPlans.
func TestContract(t *testing.T) {
	server := testenv.Postgres(t)
	server.DSN += " options='-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0'"
	t.Cleanup(func() { checkPlans(t, server.Log(), 1000) })
	runContract(t, func(t testing.TB) string { return schema(t, server) })
}

// TestContractOfServer also runs over the server that COUNTERSIGN_STORE names.
func TestContractOfServer(t *testing.T) {
	address := os.Getenv("COUNTERSIGN_STORE")
	if address == "" {
		t.Skip("no server is named: make contract STORE=postgres://…")
	}
	and := "?search_path="
	if strings.Contains(address, "?") {
		and = "&search_path="
	}
	runContract(t, func(t testing.TB) string {
		name := fmt.Sprintf("contract%d_%d", os.Getpid(), schemas.Add(1))
		execute(t, address, "CREATE SCHEMA "+name)
		t.Cleanup(func() {
			connection, err := pgx.Connect(context.Background(), address)
			if err == nil {
				_, err = connection.Exec(context.Background(), "DROP SCHEMA "+name+" CASCADE")
				_ = connection.Close(context.Background())
			}
			if err != nil {
				t.Error(err)
			}
		})
		return address + and + name
	})
}

// runContract runs the contract's tests over empty databases.
func runContract(t *testing.T, empty func(t testing.TB) (dsn string)) {
	var addresses sync.Map // of stores
	storetest.Run(t, storetest.Harness{
		Open: func(t testing.TB) store.Store {
			dsn := empty(t)
			s := open(t, dsn)
			addresses.Store(s, dsn)
			return s
		},
		Dump: func(t testing.TB, s store.Store) []byte {
			dsn, _ := addresses.Load(s)
			return dump(t, dsn.(string))
		},
		OwnClock: true,
		Reopen: func(t testing.TB) func() store.Store {
			dsn := empty(t)
			return func() store.Store { return open(t, dsn) }
		},
		Nodes: func(t testing.TB) (one, other store.Store) {
			dsn := empty(t)
			return open(t, dsn), open(t, dsn)
		},
	})
}

// dump returns all rows of all tables, as text.
func dump(t testing.TB, dsn string) (all []byte) {
	t.Helper()
	connection := connect(t, dsn)
	defer func() { _ = connection.Close(context.Background()) }()
	for _, from := range [][2]string{{"countersign_activities", "data"}, {"countersign_ledgers", "value"}} {
		table, value := from[0], from[1]
		rows, err := connection.Query(t.Context(), "SELECT row_to_json(r)::text || coalesce(encode("+value+", 'escape'), '') AS line FROM "+table+" r ORDER BY line", pgx.QueryExecModeExec)
		testenv.Must(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		testenv.Must(t, err)
		for _, line := range lines {
			all = append(append(all, line...), '\n')
		}
	}
	return all
}
