package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// outbox keeps events.
type outbox struct{ *database }

// dataOf returns the data of an event, never nil.
func dataOf(event *store.Event) []byte { return append([]byte{}, event.Data...) }

// addEvent adds the event of an activity that is replaced in the same transaction.
func addEvent(ctx context.Context, q querier, activity *store.Activity) error {
	event := activity.Event
	if err := event.Check(); err != nil {
		return err
	}
	_, err := q.Exec(ctx, `
		INSERT INTO countersign_outbox (organization_id, id, activity, revision, at, data)
		SELECT organization_id, $3, id, revision, $4, $5 FROM countersign_activities WHERE organization_id = $1
			AND fingerprint = $2`,
		activity.OrganizationID, activity.Fingerprint[:], event.ID, event.At.UnixMilli(), dataOf(event))
	return err
}

func (o outbox) AddEvents(ctx context.Context, organizationID string, events []store.Event) error {
	ids, times, data := make([]string, len(events)), make([]int64, len(events)), make([][]byte, len(events))
	for i := range events {
		if err := events[i].Check(); err != nil {
			return err
		}
		ids[i], times[i], data[i] = events[i].ID, events[i].At.UnixMilli(), dataOf(&events[i])
	}
	return o.run(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			INSERT INTO countersign_outbox (organization_id, id, activity, revision, at, data)
			SELECT $1, id, '', n, at, data FROM unnest($2::text[], $3::bigint[], $4::bytea[])
				WITH ORDINALITY AS event (id, at, data, n)`, organizationID, ids, times, data)
		return err
	})
}

// laned are the events with the name of their lane, and the time that orders them: that of the
// event, and no earlier than those of earlier revisions, which a node may have added whose clock
// is ahead. Lanes are in the order of their times, as far as the clocks of the nodes agree.
const laned = `(
	SELECT *, max(at) OVER (PARTITION BY organization_id, lane ORDER BY revision) AS since
	FROM (SELECT *, CASE activity WHEN '' THEN id ELSE activity END AS lane FROM countersign_outbox) AS named) AS laned`

func (o outbox) Events(ctx context.Context, most int,
	skip []store.Lane) (events []store.Pending, waiting store.Backlog, err error) {
	organizations, names := make([]string, len(skip)), make([]string, len(skip))
	for i := range skip {
		organizations[i], names[i] = skip[i].OrganizationID, skip[i].Name
	}
	err = o.run(ctx, func(ctx context.Context, q querier) error {
		events, waiting = nil, store.Backlog{}
		var oldest *int64
		err := q.QueryRow(ctx, `SELECT count(*), min(at) FROM countersign_outbox`).Scan(&waiting.Events, &oldest)
		if err != nil || oldest == nil {
			return err
		}
		waiting.Oldest = time.UnixMilli(*oldest).UTC()
		// ForEachRow has the error.
		rows, _ := q.Query(ctx, `
			SELECT organization_id, id, activity, at, data
			FROM (SELECT *, row_number() OVER (PARTITION BY organization_id
					ORDER BY activity = '', since, revision, id) AS rank
				FROM `+laned+`
				WHERE NOT EXISTS (SELECT 1 FROM unnest($2::text[], $3::text[]) AS skipped (organization_id, name)
					WHERE skipped.organization_id = laned.organization_id AND skipped.name = lane)) AS ranked
			WHERE rank <= $1 ORDER BY organization_id, rank`, most, organizations, names)
		var event store.Pending
		var at int64
		var data []byte
		columns := []any{&event.OrganizationID, &event.ID, &event.Activity, &at, &data}
		_, err = pgx.ForEachRow(rows, columns, func() error {
			event.Second, event.At, event.Data = event.Activity == "", time.UnixMilli(at).UTC(), bytes.Clone(data)
			events = append(events, event)
			return nil
		})
		return err
	})
	return events, waiting, err
}

func (o outbox) RemoveEvents(ctx context.Context, events []store.Pending) error {
	organizations, ids := make([]string, len(events)), make([]string, len(events))
	for i := range events {
		organizations[i], ids[i] = events[i].OrganizationID, events[i].ID
	}
	return o.run(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			DELETE FROM countersign_outbox AS held USING unnest($1::text[], $2::text[]) AS gone (organization_id, id)
			WHERE held.organization_id = gone.organization_id AND held.id = gone.id`, organizations, ids)
		return err
	})
}

func (o outbox) TrimEvents(ctx context.Context, before time.Time) (first, second int, err error) {
	err = o.transact(ctx, func(ctx context.Context, q querier) error {
		first, second = 0, 0
		for _, statement := range []struct {
			sql      string
			argument any
		}{
			{`DELETE FROM countersign_outbox WHERE at < $1 RETURNING activity`, before.UnixMilli()},
			{`DELETE FROM countersign_outbox AS held USING (
				SELECT organization_id, id, row_number() OVER (PARTITION BY organization_id
					ORDER BY activity = '', since DESC, revision DESC, id DESC) AS rank FROM ` + laned + `) AS ranked
				WHERE rank > $1 AND held.organization_id = ranked.organization_id AND held.id = ranked.id
				RETURNING held.activity`, store.MaxEvents},
		} {
			rows, _ := q.Query(ctx, statement.sql, statement.argument) // ForEachRow has the error
			var activity string
			_, err := pgx.ForEachRow(rows, []any{&activity}, func() error {
				if activity == "" {
					second++
				} else {
					first++
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return first, second, err
}

// HoldOutbox implements store.Outbox. It goes by the database's clock. The lease is a row of
// the ledgers that belongs to no organization.
func (o outbox) HoldOutbox(ctx context.Context, holder uint64, ttl time.Duration, _ time.Time) (held bool, err error) {
	err = o.scan(ctx, &held, `
		INSERT INTO countersign_ledgers AS held (organization_id, key, value, keep_until)
		VALUES ('', 'outbox', $1, clock_timestamp() + $2)
		ON CONFLICT (organization_id, key) DO UPDATE SET value = excluded.value, keep_until = excluded.keep_until
		WHERE held.value = excluded.value OR held.keep_until <= clock_timestamp()
		RETURNING true`, binary.BigEndian.AppendUint64(nil, holder), ttl)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return held, err
}
