package postgres

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// ledger is a store.Ledger over a transaction, which holds the rows that it has locked
// until it ends.
type ledger struct {
	ctx          context.Context
	q            querier
	organization string
	now          time.Time
}

var _ store.Ledger = (*ledger)(nil)

// Lock implements store.Ledger. One statement inserts missing rows and locks existing ones,
// in the order of their keys. Between two statements a sweep could remove a row, which
// could then be neither locked nor written.
func (l *ledger) Lock(keys ...store.Key) ([]store.Entry, error) {
	raw := make([][]byte, len(keys))
	for i := range keys {
		raw[i] = keys[i].Bytes()
	}
	// ForEachRow has the error.
	rows, _ := l.q.Query(l.ctx, `
		INSERT INTO countersign_ledgers AS held (organization_id, key, value, keep_until)
		SELECT DISTINCT $1, key, NULL::bytea, '-infinity'::timestamptz FROM unnest($2::bytea[]) AS key ORDER BY key
		ON CONFLICT (organization_id, key) DO UPDATE SET value = held.value
		RETURNING key, value, nullif(held.keep_until, '-infinity') AS keep_until`, l.organization, raw)
	locked := map[string]store.Entry{}
	var key, value []byte
	var until *time.Time
	_, err := pgx.ForEachRow(rows, []any{&key, &value, &until}, func() error {
		locked[string(key)] = entryOf(value, until)
		return nil
	})
	if err != nil {
		return nil, err
	}
	entries := make([]store.Entry, len(keys))
	for i := range keys {
		entries[i] = locked[string(raw[i])]
	}
	return entries, nil
}

// entryOf returns an entry. It copies, since pgx reuses the memory of columns.
func entryOf(value []byte, until *time.Time) store.Entry {
	if value == nil || until == nil {
		return store.Entry{}
	}
	return store.Entry{Value: append([]byte{}, value...), KeepUntil: until.UTC()}
}

func (l *ledger) Read(key store.Key) (store.Entry, error) { return l.read(key, "") }

// Share reads an entry, which others can share, and not lock, until the transaction ends.
func (l *ledger) Share(key store.Key) (store.Entry, error) { return l.read(key, " FOR SHARE") }

func (l *ledger) read(key store.Key, lock string) (store.Entry, error) {
	var value []byte
	var until *time.Time
	err := l.q.QueryRow(l.ctx, `
		SELECT value, nullif(keep_until, '-infinity') AS keep_until FROM countersign_ledgers
		WHERE organization_id = $1 AND key = $2`+lock, l.organization, key.Bytes()).Scan(&value, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Entry{}, nil
	}
	return entryOf(value, until), err
}

// Write implements store.Ledger. The row of a removed entry is deleted by the next sweep:
// until the transaction ends it is the lock.
func (l *ledger) Write(key store.Key, entry store.Entry) error {
	until := &entry.KeepUntil
	if entry.Value == nil {
		until = nil
	}
	tag, err := l.q.Exec(l.ctx, `
		UPDATE countersign_ledgers SET value = $3, keep_until = coalesce($4::timestamptz, '-infinity')
		WHERE organization_id = $1 AND key = $2`, l.organization, key.Bytes(), entry.Value, until)
	if err == nil && tag.RowsAffected() != 1 {
		return errors.New("store: a ledger entry was written without locking it")
	}
	return err
}

// Now implements store.Ledger. All nodes go by the clock of the database.
func (l *ledger) Now(caller time.Time) time.Time {
	if l.now.IsZero() {
		if err := l.q.QueryRow(l.ctx, `SELECT clock_timestamp()`).Scan(&l.now); err != nil {
			return caller // the transaction has failed: the next statement returns the error
		}
		l.now = l.now.UTC()
	}
	return l.now
}

func (db *database) endWith(ctx context.Context, organizationID string, statement work, change store.Change) error {
	var refusal error
	err := db.transact(ctx, func(ctx context.Context, q querier) (err error) {
		if err = statement(ctx, q); err != nil {
			return err
		}
		refusal, err = change.Apply(&ledger{ctx: ctx, q: q, organization: organizationID})
		if err == nil && refusal != nil {
			err = errRollBack
		}
		return err
	})
	if errors.Is(err, errRollBack) {
		return refusal
	}
	return err
}

func (db *database) Change(ctx context.Context, organizationID string, change store.Change) error {
	var refusal error
	err := db.transact(ctx, func(ctx context.Context, q querier) (err error) {
		refusal, err = change.Apply(&ledger{ctx: ctx, q: q, organization: organizationID})
		return err
	})
	return cmp.Or(err, refusal)
}
