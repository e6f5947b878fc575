package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// Classes of events.
const (
	firstClass  = 1
	secondClass = 2
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
		INSERT INTO countersign_outbox (organization_id, class, id, activity, at, data)
		SELECT organization_id, $3, $4, id, $5, $6 FROM countersign_activities WHERE organization_id = $1
			AND fingerprint = $2`,
		activity.OrganizationID, activity.Fingerprint[:], firstClass, event.ID, event.At.UnixMilli(), dataOf(event))
	return err
}

// AddEvents implements store.Outbox.
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
			INSERT INTO countersign_outbox (organization_id, class, id, activity, at, data)
			SELECT $1, $2, id, '', at, data FROM unnest($3::text[], $4::bigint[],
				$5::bytea[]) WITH ORDINALITY AS event (id, at, data, n) ORDER BY n`,
			organizationID, secondClass, ids, times, data)
		return err
	})
}

// Events implements store.Outbox.
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
			SELECT organization_id, class, place, id, activity, at, data
			FROM (SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY class, place) AS rank
				FROM countersign_outbox AS held
				WHERE NOT EXISTS (SELECT FROM unnest($2::text[], $3::text[]) AS skipped (organization_id, name)
					WHERE skipped.organization_id = held.organization_id
						AND skipped.name = CASE held.activity WHEN '' THEN held.id ELSE held.activity END)) AS ranked
			WHERE rank <= $1 ORDER BY organization_id, class, place`, most, organizations, names)
		var event store.Pending
		var class, at, place int64
		var data []byte
		_, err = pgx.ForEachRow(rows, []any{&event.OrganizationID, &class, &place, &event.ID, &event.Activity, &at,
			&data}, func() error {
			event.Second, event.Place, event.At = class == secondClass, uint64(place), time.UnixMilli(at).UTC()
			event.Data = append([]byte{}, data...)
			events = append(events, event)
			return nil
		})
		return err
	})
	return events, waiting, err
}

// RemoveEvents implements store.Outbox.
func (o outbox) RemoveEvents(ctx context.Context, events []store.Pending) error {
	organizations, classes, places := make([]string, len(events)), make([]int16, len(events)),
		make([]int64, len(events))
	for i := range events {
		organizations[i], classes[i], places[i] = events[i].OrganizationID, firstClass, int64(events[i].Place)
		if events[i].Second {
			classes[i] = secondClass
		}
	}
	return o.run(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			DELETE FROM countersign_outbox AS held
				USING unnest($1::text[], $2::smallint[], $3::bigint[]) AS gone (organization_id, class, place)
			WHERE held.organization_id = gone.organization_id AND held.class = gone.class
				AND held.place = gone.place`, organizations, classes, places)
		return err
	})
}

// TrimEvents implements store.Outbox.
func (o outbox) TrimEvents(ctx context.Context, before time.Time) (first, second int, err error) {
	err = o.transact(ctx, func(ctx context.Context, q querier) error {
		first, second = 0, 0
		for _, statement := range []struct {
			sql      string
			argument any
		}{
			{`DELETE FROM countersign_outbox WHERE at < $1 RETURNING class`, before.UnixMilli()},
			{`DELETE FROM countersign_outbox AS held USING (
				SELECT organization_id, class, place, row_number() OVER (PARTITION BY organization_id
					ORDER BY class, place DESC) AS rank FROM countersign_outbox) AS ranked
				WHERE rank > $1 AND held.organization_id = ranked.organization_id AND held.class = ranked.class
					AND held.place = ranked.place RETURNING held.class`, store.MaxEvents},
		} {
			rows, _ := q.Query(ctx, statement.sql, statement.argument) // ForEachRow has the error
			var class int
			_, err := pgx.ForEachRow(rows, []any{&class}, func() error {
				if class == secondClass {
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
	err = o.run(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `
			INSERT INTO countersign_ledgers AS held (organization_id, key, value, keep_until)
			VALUES ('', 'outbox', $1, clock_timestamp() + $2)
			ON CONFLICT (organization_id, key) DO UPDATE SET value = excluded.value, keep_until = excluded.keep_until
			WHERE held.value = excluded.value OR held.keep_until <= clock_timestamp()
			RETURNING true`, binary.BigEndian.AppendUint64(nil, holder), ttl).Scan(&held)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return held, err
}
