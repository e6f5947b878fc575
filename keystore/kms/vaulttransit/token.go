package vaulttransit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/vault/api"
)

// tokenLease is when the token is to be renewed.
type tokenLease struct {
	mu    sync.Mutex
	known bool
	due   time.Time // of the next renewal or look-up; zero if known and not renewable
}

const (
	// renewTimeout bounds a renewal, which must not hold up a signature for long.
	renewTimeout = 2 * time.Second

	// renewRetry is when a renewal that failed is tried again. If the token has expired
	// meanwhile, the calls themselves say so.
	renewRetry = 10 * time.Second
)

// Keep implements remote.Keeper: it renews the token of a server that has nothing to sign. It
// ends with the context, or when the token cannot be renewed.
func (s *Service) Keep(ctx context.Context) {
	for ctx.Err() == nil {
		s.lease.mu.Lock()
		s.renewDue(ctx)
		due := s.lease.due
		s.lease.mu.Unlock()
		if due.IsZero() {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(due)):
		}
	}
}

// renew is renewDue for a caller that has something to sign: if another one does it, the
// caller goes on.
func (s *Service) renew(ctx context.Context) {
	if s.lease.mu.TryLock() {
		defer s.lease.mu.Unlock()
		s.renewDue(ctx)
	}
}

// renewDue renews the token if two thirds of its lifetime have passed.
func (s *Service) renewDue(ctx context.Context) {
	lease := &s.lease
	if lease.known && lease.due.IsZero() || time.Now().Before(lease.due) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	lease.due = time.Now().Add(s.retry)
	client, err := s.connect()
	if err != nil {
		return
	}
	ask := lookUp
	if lease.known {
		ask = renewToken
	}
	if renewable, ttl, err := ask(ctx, client); err == nil {
		lease.known, lease.due = true, time.Time{}
		if renewable && ttl > 0 {
			lease.due = time.Now().Add(ttl * 2 / 3)
		}
	}
}

// renewToken renews the token, and returns how long it lives from now on.
func renewToken(ctx context.Context, client *api.Client) (renewable bool, ttl time.Duration, err error) {
	const path = "auth/token/renew-self"
	renewed, err := client.Auth().Token().RenewSelfWithContext(ctx, 0)
	switch {
	case err != nil:
		return false, 0, explain("update on "+path, err)
	case renewed == nil || renewed.Auth == nil || renewed.Auth.ClientToken == "":
		return false, 0, unusable("update on "+path, "a token")
	}
	return renewed.Auth.Renewable, time.Duration(renewed.Auth.LeaseDuration) * time.Second, nil
}

// lookUp returns how long the token lives. A token that may not look itself up is not renewed.
func lookUp(ctx context.Context, client *api.Client) (renewable bool, ttl time.Duration, err error) {
	const path = "auth/token/lookup-self"
	found, err := client.Auth().Token().LookupSelfWithContext(ctx)
	if answer, ok := errors.AsType[*api.ResponseError](err); ok && answer.StatusCode == http.StatusForbidden {
		return false, 0, nil
	}
	switch {
	case err != nil:
		return false, 0, explain("read on "+path, err)
	case found == nil || found.Data["ttl"] == nil:
		return false, 0, unusable("read on "+path, "the lifetime of the token")
	}
	renewable, err = found.TokenIsRenewable()
	ttl, ttlErr := found.TokenTTL()
	if err = errors.Join(err, ttlErr); err != nil {
		return false, 0, fmt.Errorf("%w: %w", unusable("read on "+path, "the lifetime of the token"), err)
	}
	return renewable, ttl, nil
}
