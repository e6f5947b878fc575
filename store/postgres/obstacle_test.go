package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

// clerk makes an empty schema that belongs to an ordinary role of this name, and
// returns the address that leads into it. Its connections do not wait for locks.
func clerk(t *testing.T, server *testenv.PostgreSQL) string {
	t.Helper()
	execute(t, server.DSN, `DO $$ BEGIN CREATE ROLE clerk LOGIN; EXCEPTION WHEN duplicate_object THEN END $$`)
	dsn := schema(t, server)
	execute(t, dsn, "ALTER SCHEMA "+schemaOf(dsn)+" OWNER TO clerk")
	return dsn + " user=clerk lock_timeout=20ms"
}

func schemaOf(dsn string) string {
	_, rest, _ := strings.Cut(dsn, "search_path=")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// obstacle is something that another session puts in a store's way, which says
// then what it met.
type obstacle struct{ putting, clearing, says string }

func (o obstacle) in(dsn, text string) string {
	return strings.ReplaceAll(text, "$schema", schemaOf(dsn))
}

// put returns the session, which may hold a lock.
func (o obstacle) put(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	other := connect(t, dsn)
	if _, err := other.Exec(t.Context(), o.in(dsn, o.putting)); err != nil {
		t.Fatal(err)
	}
	return other
}

func (o obstacle) clearAway(t *testing.T, other *pgx.Conn) {
	t.Helper()
	if _, err := other.Exec(t.Context(), o.in(other.Config().ConnString(), o.clearing)); err != nil {
		t.Fatal(err)
	}
}

func (o obstacle) unavailable(t *testing.T, other *pgx.Conn, err error) {
	t.Helper()
	says := o.in(other.Config().ConnString(), o.says)
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is\n%v, want ErrUnavailable and\n%s", err, says)
	} else if strings.Count(err.Error(), store.ErrUnavailable.Error()) > 1 {
		t.Errorf("it says twice that it is unavailable: %v", err)
	}
}
