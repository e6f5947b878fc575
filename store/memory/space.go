package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/leases"
)

// space is the bounded memory of a store, under one lock.
type space struct {
	maxBytes int
	leases   *leases.Table // their requests have memory reserved

	mu     sync.Mutex
	closed bool
	used   int
}

// lock locks the store, unless the context has ended or the store is closed.
func (s *space) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return store.ErrClosed
	}
	return nil
}

// room returns ErrFull if there is no room for more bytes.
func (s *space) room(more int) error {
	if s.used+s.leases.Reserved()+more > s.maxBytes {
		return fmt.Errorf("%w: %d of %d bytes are taken", store.ErrFull, s.used+s.leases.Reserved(), s.maxBytes)
	}
	return nil
}

// Ping implements store.Pinger.
func (s *space) Ping(ctx context.Context) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	s.mu.Unlock()
	return nil
}

// Used returns how many bytes are taken, including those reserved by leases.
func (s *space) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used + s.leases.Reserved()
}
