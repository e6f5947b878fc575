//go:build cgo

package pkcs11

import (
	"context"
	"time"
)

// StopClock makes a scan of the token depend on Forget and Advance alone, and not on the speed
// of the test: no time passes for the Store after its last scan.
func (s *Store) StopClock() {
	at := s.lastScan
	if at.IsZero() {
		at = time.Now()
	}
	s.setClock(func() time.Time { return at })
}

// Advance lets time pass on the Store's clock.
func (s *Store) Advance(by time.Duration) {
	before := s.now
	s.setClock(func() time.Time { return before().Add(by) })
}

func (s *Store) setClock(now func() time.Time) {
	_ = s.scanning.lock(context.Background())
	s.now = now
	s.scanning.unlock()
}

// Forget makes the next look-up of an unknown key scan the token without waiting for
// rescanInterval.
func (s *Store) Forget() {
	_ = s.scanning.lock(context.Background())
	s.lastScan = time.Time{}
	s.scanning.unlock()
}

// SetCloseTimeout sets how long Close waits for operations in progress.
func (s *Store) SetCloseTimeout(to time.Duration) { s.settings.closeTimeout = to }

// Closing is closed when Close has begun.
func (s *Store) Closing() <-chan struct{} { return s.pool.closed }

// ModulesOpen returns the number of modules that the process has open.
func ModulesOpen() int {
	_ = modules.lock(context.Background())
	defer modules.unlock()
	return len(modules.open)
}
