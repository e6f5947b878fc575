package vaulttransit

import (
	"context"
	"sync"
	"time"
)

// tokenLease is when the token is to be renewed.
type tokenLease struct {
	mu    sync.Mutex
	known bool
	due   time.Time // zero if the token cannot be renewed
}

// renewTimeout bounds a renewal, which must not hold up a signature for long.
const renewTimeout = 2 * time.Second

// renew renews the token if two thirds of its lifetime have passed. Only one caller does it;
// the others go on. A renewal that fails is tried again a minute later: if the token has
// expired, the calls themselves say so.
func (s *Service) renew(ctx context.Context) {
	if !s.lease.mu.TryLock() {
		return
	}
	defer s.lease.mu.Unlock()
	if s.lease.known && (s.lease.due.IsZero() || time.Now().Before(s.lease.due)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	s.lease.due = time.Now().Add(time.Minute)
	if !s.lease.known {
		s.lookUp(ctx)
		return
	}
	renewed, err := s.client.Auth().Token().RenewSelfWithContext(ctx, 0)
	if err == nil && renewed.Auth != nil {
		s.lease.set(renewed.Auth.Renewable, time.Duration(renewed.Auth.LeaseDuration)*time.Second)
	}
}

// lookUp learns how long the token lives. A token that may not look itself up is not renewed.
func (s *Service) lookUp(ctx context.Context) {
	found, err := s.client.Auth().Token().LookupSelfWithContext(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.lease.known, s.lease.due = true, time.Time{}
		}
		return
	}
	renewable, err := found.TokenIsRenewable()
	ttl, ttlErr := found.TokenTTL()
	s.lease.set(renewable && err == nil && ttlErr == nil, ttl)
}

// set plans the next renewal.
func (l *tokenLease) set(renewable bool, ttl time.Duration) {
	l.known, l.due = true, time.Time{}
	if renewable && ttl > 0 {
		l.due = time.Now().Add(ttl * 2 / 3)
	}
}
