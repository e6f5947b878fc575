//go:build cgo

package pkcs11

import (
	"context"
	"time"
)

// Forget makes the next look-up of an unknown key scan the token without waiting for
// rescanInterval.
func (s *Store) Forget() { s.scannedAt(time.Time{}) }

// Remember prevents scans of the token, however slow the test is.
func (s *Store) Remember() { s.scannedAt(time.Now().Add(time.Hour)) }

func (s *Store) scannedAt(at time.Time) {
	_ = s.scanning.lock(context.Background())
	s.lastScan = at
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
