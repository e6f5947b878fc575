package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

var _ store.Mover = (*Store)(nil)

// table is what CopyTo copies of a table: the rows that pass a condition, in the order of a key. What
// is replaced by them are all rows of the organization that are its own.
type table struct{ name, columns, key, own, rows string }

var ofOrganization = []table{
	{"countersign_activities", "organization_id, fingerprint, at, id, submitted_by, user_id, type, status, data, " +
		"keep_until, completed_at, waiting, revision, lease_until", "fingerprint", "true", "id IS NOT NULL"},
	{"countersign_ledgers", "organization_id, key, value, keep_until", "key",
		fmt.Sprintf("get_byte(key, 0) <> %d", store.KindHome), "value IS NOT NULL"},
	{"countersign_log_leaves", "organization_id, index, id, leaf, hashes", "index", "true", "true"},
	{"countersign_outbox", "organization_id, id, activity, revision, at, data", "id", "true", "true"},
}

// Hold implements store.Mover. The change waits for those who share what it locks.
func (s *Store) Hold(ctx context.Context, organizationID string, moved bool, change store.Change) error {
	hold := func(ctx context.Context, q querier, head *translog.Head) ([]*logEntry, error) {
		head.Moved = moved
		_, err := change.Apply(&ledger{ctx: ctx, q: q, organization: organizationID})
		return nil, err
	}
	_, err := s.changeHead(ctx, organizationID, hold)
	return err
}

func (s *Store) Drain(ctx context.Context, organizationID string) error {
	for live := [][]byte(nil); ; { // nil: any
		err := s.scan(ctx, &live, `
			SELECT coalesce(array_agg(lease), '{}') FROM (
				SELECT lease, lease_until FROM countersign_activities WHERE organization_id = $1 AND id IS NULL
				UNION ALL
				SELECT lease, lease_until FROM countersign_activities
				WHERE organization_id = $1 AND id IS NOT NULL AND waiting) AS held
			WHERE lease_until > clock_timestamp() AND ($2::bytea[] IS NULL OR lease = ANY ($2))`, organizationID, live)
		if err != nil || len(live) == 0 {
			return err
		}
		select {
		case <-time.After(pollMost):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const moveTimeout = 24 * time.Hour // of CopyTo

// unhurried sets what both transactions of CopyTo need: one waits while the other works, for hours if
// there is much, and ends soon after its machine does.
const unhurried = `SELECT set_config('statement_timeout', '0', true), set_config('client_encoding', 'UTF8', true),
	set_config('idle_in_transaction_session_timeout', '0', true), set_config('tcp_keepalives_idle', '60', true),
	set_config('tcp_keepalives_interval', '10', true), set_config('tcp_keepalives_count', '6', true)`

// CopyTo implements store.Mover for a store of this package.
func (s *Store) CopyTo(ctx context.Context, organizationID string, other store.Mover,
	leave, arrive store.Change) error {
	return s.transactIn(ctx, moveTimeout, func(ctx context.Context, from querier) error {
		var encoded []byte
		m := movement{from: from, organization: organizationID}
		_, err := from.Exec(ctx, unhurried)
		if err == nil {
			_, err = leave.Apply(&ledger{ctx: ctx, q: from, organization: organizationID})
		}
		if err == nil {
			err = from.QueryRow(ctx, `SELECT head, quote_literal(organization_id) FROM countersign_log_heads
				WHERE organization_id = $1`, organizationID).Scan(&encoded, &m.quoted)
		}
		if err == nil {
			m.head, err = translog.ParseHead(encoded)
		}
		if err != nil {
			return err
		}
		m.head.Moved = false
		if _, err = from.Exec(ctx, `SAVEPOINT copying`); err != nil {
			return err
		}
		err = other.(*Store).transactIn(ctx, moveTimeout, func(ctx context.Context, to querier) error {
			return m.arrive(ctx, to, arrive)
		})
		if m.failed != nil { // must not be taken for an error of the other transaction, nor repeated by it
			err = m.failed
		}
		return err
	})
}

// movement is a call of CopyTo.
type movement struct {
	from                 querier
	organization, quoted string
	head                 translog.Head
	failed               error // of from
}

// arrive replaces what the other database has of the organization. If that one rolls it back, it is
// repeated with the events that were taken out.
func (m *movement) arrive(ctx context.Context, to querier, change store.Change) error {
	if _, m.failed = m.from.Exec(ctx, `ROLLBACK TO SAVEPOINT copying`); m.failed != nil {
		return errRollBack
	}
	heads := logHeads{}
	_, err := to.Exec(ctx, unhurried)
	if err == nil { // first, as Hold does, which may take back at the same time
		err = heads.locked([]*logEntry{{organization: m.organization}}).do(ctx, to)
	}
	if err == nil {
		_, err = change.Apply(&ledger{ctx: ctx, q: to, organization: m.organization})
	}
	for i := range ofOrganization {
		if err == nil {
			err = m.copy(ctx, to, &ofOrganization[i])
		}
	}
	if err != nil {
		return err
	}
	heads[m.organization] = &m.head
	return heads.extended(nil).do(ctx, to)
}

// out is the statement that gives out the rows, which with takes from somewhere else.
func (m *movement) out(of *table, with, from string) string {
	columns := strings.Replace(of.columns, "lease_until", "'-infinity'::timestamptz", 1)
	return fmt.Sprintf("COPY (%sSELECT %s FROM %s WHERE organization_id = %s AND %s AND %s ORDER BY %s) %s",
		with, columns, from, m.quoted, of.own, of.rows, of.key, "TO STDOUT (FORMAT binary)")
}

// copy copies a table, and compares the copy. Events are taken out of the first.
func (m *movement) copy(ctx context.Context, to querier, of *table) error {
	clear := fmt.Sprintf(`DELETE FROM %s WHERE organization_id = $1 AND %s`, of.name, of.own)
	if _, err := to.Exec(ctx, clear, m.organization); err != nil {
		return err
	}
	reads := m.out(of, "", of.name)
	gives := reads
	if of.name == "countersign_outbox" {
		gone := fmt.Sprintf("WITH gone AS (DELETE FROM %s WHERE organization_id = %s RETURNING *) ", of.name, m.quoted)
		gives = m.out(of, gone, "gone")
	}
	reader, writer := io.Pipe()
	given, copied, done := sha256.New(), sha256.New(), make(chan error, 1)
	go func() {
		_, err := m.from.(pgx.Tx).Conn().PgConn().CopyTo(ctx, io.MultiWriter(writer, given), gives)
		_ = writer.CloseWithError(err)
		done <- err
	}()
	target := to.(pgx.Tx).Conn().PgConn()
	takes := fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", of.name, of.columns)
	tag, err := target.CopyFrom(ctx, reader, takes)
	_ = reader.CloseWithError(io.ErrClosedPipe) // the other end stops, too
	if failed := <-done; failed != nil && (err == nil || !errors.Is(failed, io.ErrClosedPipe)) {
		m.failed, err = failed, errRollBack
	}
	if err == nil {
		_, err = target.CopyTo(ctx, copied, reads)
	}
	if err == nil && (!bytes.Equal(given.Sum(nil), copied.Sum(nil)) ||
		of.name == "countersign_log_leaves" && tag.RowsAffected() != m.head.Size) {
		err = fmt.Errorf("store: %s: the copy has other rows, or the log fewer than its head says", of.name)
	}
	return err
}
