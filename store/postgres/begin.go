package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context, claim store.Claim, change store.Change) (begun store.Begun, err error) {
	if change == nil {
		return s.beginAlone(ctx, claim)
	}
	var refusal error
	err = s.transact(ctx, func(ctx context.Context, q querier) (err error) {
		refusal = nil
		if begun, err = s.take(ctx, q, claim); err != nil || begun.Lease == nil {
			return err
		}
		refusal, err = change.Apply(&ledger{ctx: ctx, q: q, organization: claim.OrganizationID})
		if err == nil && refusal != nil {
			err = giveBack(ctx, q, begun.Lease)
		}
		return err
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return store.Begun{}, err
	}
	return begun, nil
}

// takeAttempts bounds how often a lease that vanishes between two statements is
// asked for again.
const takeAttempts = 10

// take takes the lease if it can be had, and finds out why if not.
func (s *Store) take(ctx context.Context, q querier, claim store.Claim) (begun store.Begun, err error) {
	if claim.Stale() {
		begun, live, err := s.look(ctx, q, claim)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !live {
			return store.Begun{}, store.ErrStale
		}
		return begun, err
	}
	for range takeAttempts {
		lease, err := takeLease(ctx, q, claim)
		if err == nil {
			return store.Begun{Lease: lease}, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return begun, err
		}
		begun, _, err = s.look(ctx, q, claim)
		if !errors.Is(err, pgx.ErrNoRows) {
			return begun, err
		}
	}
	return begun, errors.New("the lease came and went, again and again")
}

// takeLease returns pgx.ErrNoRows if the request is completed or its lease is
// held.
func takeLease(ctx context.Context, q querier, claim store.Claim) (*store.Lease, error) {
	lease := store.Lease{OrganizationID: claim.OrganizationID, Fingerprint: claim.Fingerprint}
	lease.Nonce = newNonce()
	var token int64
	err := q.QueryRow(ctx, `
		INSERT INTO countersign_activities AS held (organization_id, fingerprint, token, nonce, lease_until)
		VALUES ($1, $2, nextval('countersign_token'), $3, clock_timestamp() + $4)
		ON CONFLICT (organization_id, fingerprint) DO UPDATE
		SET token = nextval('countersign_token'), nonce = $3, lease_until = clock_timestamp() + $4
		WHERE held.id IS NULL AND held.lease_until <= clock_timestamp()
		RETURNING token, lease_until`,
		claim.OrganizationID, claim.Fingerprint[:], int64(lease.Nonce), claim.LeaseTTL).Scan(&token, &lease.Until)
	lease.Token = uint64(token)
	return &lease, err
}

// look finds the record, or the lease and whether it still runs; pgx.ErrNoRows
// if there is neither.
func (s *Store) look(ctx context.Context, q querier, claim store.Claim) (begun store.Begun, live bool, err error) {
	var (
		id, submittedBy *string
		keepUntil       *time.Time
		data            []byte
		token, nonce    int64
	)
	err = q.QueryRow(ctx, `
		SELECT id, submitted_by, data, keep_until, token, nonce, id IS NOT NULL OR lease_until > clock_timestamp()
		FROM countersign_activities
		WHERE organization_id = $1 AND fingerprint = $2`,
		claim.OrganizationID, claim.Fingerprint[:]).Scan(&id, &submittedBy, &data, &keepUntil, &token, &nonce, &live)
	if err != nil {
		return begun, false, err
	}
	if id == nil {
		held := store.Lease{OrganizationID: claim.OrganizationID, Fingerprint: claim.Fingerprint, Token: uint64(token), Nonce: uint64(nonce)}
		return store.Begun{Wait: func(ctx context.Context) error { return s.wait(ctx, held) }}, live, nil
	}
	if submittedBy == nil || keepUntil == nil {
		return begun, false, fmt.Errorf("activity %s is damaged: it is completed, and has no submitted_by or no keep_until", *id)
	}
	return store.Begun{Recorded: &store.Activity{
		ID:             *id,
		OrganizationID: claim.OrganizationID,
		Fingerprint:    claim.Fingerprint,
		SubmittedBy:    *submittedBy,
		Data:           data,
		KeepUntil:      *keepUntil,
	}}, true, nil
}

// giveBack removes a lease that was taken in this transaction.
func giveBack(ctx context.Context, q querier, lease *store.Lease) error {
	_, err := q.Exec(ctx, `
		DELETE FROM countersign_activities WHERE organization_id = $1 AND fingerprint = $2 AND token = $3 AND nonce = $4`,
		lease.OrganizationID, lease.Fingerprint[:], int64(lease.Token), int64(lease.Nonce))
	return err
}
