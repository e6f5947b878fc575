package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// ledger is an otp.Ledger over a transaction. Whoever writes a meter or tries a
// code holds its row until the transaction ends.
type ledger struct {
	ctx          context.Context
	q            querier
	organization string
}

var _ otp.Ledger = (*ledger)(nil)

// Meters implements otp.Ledger. One statement makes the rows that are not there
// and locks those that are, in the order of their keys: between two, a sweep
// could remove a row, and there would be nothing to lock and to write to.
func (l *ledger) Meters(keys ...otp.MeterKey) ([]otp.Meter, error) {
	raw := make([][]byte, len(keys))
	for i := range keys {
		raw[i] = keys[i][:]
	}
	rows, _ := l.q.Query(l.ctx, `
		INSERT INTO countersign_otp_meters AS held (organization_id, key, meter, keep_until)
		SELECT DISTINCT $1, key, ''::bytea, '-infinity'::timestamptz FROM unnest($2::bytea[]) AS key ORDER BY key
		ON CONFLICT (organization_id, key) DO UPDATE SET meter = held.meter
		RETURNING key, meter`, l.organization, raw) // ForEachRow has the error
	found := map[otp.MeterKey][]byte{}
	var key hash
	var meter []byte
	_, err := pgx.ForEachRow(rows, []any{&key, &meter}, func() error {
		found[otp.MeterKey(key)] = slices.Clone(meter)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return parseMeters(keys, found)
}

func parseMeters(keys []otp.MeterKey, found map[otp.MeterKey][]byte) ([]otp.Meter, error) {
	meters := make([]otp.Meter, len(keys))
	for i, key := range keys {
		meter, err := otp.ParseMeter(found[key])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		meters[i] = meter
	}
	return meters, nil
}

// SetMeter implements otp.Ledger.
func (l *ledger) SetMeter(key otp.MeterKey, meter otp.Meter) error {
	_, err := l.q.Exec(l.ctx, `
		UPDATE countersign_otp_meters SET meter = $3, keep_until = $4
		WHERE organization_id = $1 AND key = $2`,
		l.organization, key[:], meter.Append(nil), meter.KeepUntil())
	return err
}

const codeColumns = `id, type, contact, hash, user_key, to_key, state, created_at, expires_at, tried`

// Code implements otp.Ledger.
func (l *ledger) Code(id string) (otp.Code, error) {
	code, err := scanCode(l.q.QueryRow(l.ctx, `
		SELECT `+codeColumns+` FROM countersign_otp_codes
		WHERE organization_id = $1 AND id = $2`, l.organization, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return code, otp.ErrUnknown
	}
	return code, err
}

func scanCode(row pgx.Row) (code otp.Code, err error) {
	var tried []hash
	err = row.Scan(&code.ID, &code.Type, &code.Contact, (*hash)(&code.Hash), (*hash)(&code.User), (*hash)(&code.To),
		&code.State, &code.CreatedAt, &code.ExpiresAt, &tried)
	if err != nil {
		return otp.Code{}, err
	}
	for _, by := range tried {
		code.Tried = append(code.Tried, otp.Fingerprint(by))
	}
	code.CreatedAt, code.ExpiresAt = code.CreatedAt.UTC(), code.ExpiresAt.UTC()
	return code, nil
}

// Insert implements otp.Ledger.
func (l *ledger) Insert(code otp.Code) error {
	tried := make([][]byte, len(code.Tried))
	for i := range code.Tried {
		tried[i] = code.Tried[i][:]
	}
	_, err := l.q.Exec(l.ctx, `
		INSERT INTO countersign_otp_codes (organization_id, `+codeColumns+`, keep_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		l.organization, code.ID, code.Type, code.Contact, code.Hash[:], code.User[:], code.To[:],
		code.State, code.CreatedAt, code.ExpiresAt, tried, code.KeepUntil())
	return err
}

// Try implements otp.Ledger: the count is checked and raised by one statement.
func (l *ledger) Try(id string, by otp.Fingerprint, most int, now time.Time) (otp.Code, otp.Try, error) {
	code, err := scanCode(l.q.QueryRow(l.ctx, `
		UPDATE countersign_otp_codes SET tried = tried || $3::bytea
		WHERE organization_id = $1 AND id = $2 AND state = $4 AND expires_at > $5
			AND cardinality(tried) < $6 AND NOT $3::bytea = ANY(tried)
		RETURNING `+codeColumns,
		l.organization, id, by[:], otp.StateLive, now, most))
	if err == nil {
		return code, otp.TryCounted, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return code, otp.TryRefused, err
	}
	code, err = l.Code(id)
	if errors.Is(err, otp.ErrUnknown) {
		return code, otp.TryRefused, nil
	}
	if err == nil && slices.Contains(code.Tried, by) {
		return code, code.Take(by, most, now), nil
	}
	return code, otp.TryRefused, err
}

// Move implements otp.Ledger.
func (l *ledger) Move(id string, from, to otp.State) (bool, error) {
	tag, err := l.q.Exec(l.ctx, `
		UPDATE countersign_otp_codes SET state = $4
		WHERE organization_id = $1 AND id = $2 AND state = $3`, l.organization, id, from, to)
	return tag.RowsAffected() == 1, err
}
