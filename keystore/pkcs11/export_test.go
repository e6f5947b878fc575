//go:build cgo

package pkcs11

import "time"

// Forget lets the next who asks look at the token again, without waiting for
// RescanInterval.
func (s *Store) Forget() { s.scannedAt(time.Time{}) }

// Remember keeps the token from being scanned again, however slow the test is.
func (s *Store) Remember() { s.scannedAt(time.Now().Add(time.Hour)) }

func (s *Store) scannedAt(at time.Time) {
	s.scanning <- struct{}{}
	s.lastScan = at
	<-s.scanning
}

// SetCloseTimeout changes how long Close waits for hanging calls.
func (s *Store) SetCloseTimeout(to time.Duration) { s.settings.closeTimeout = to }

// Closing is closed when Close has begun.
func (s *Store) Closing() <-chan struct{} { return s.pool.closed }

// ModulesOpen returns how many modules the process has open.
func ModulesOpen() int {
	modules.turn <- struct{}{}
	defer unlockModules()
	return len(modules.open)
}
