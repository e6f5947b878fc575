//go:build cgo

package pkcs11

import "time"

// Forget lets the next who asks look at the token again, without waiting for
// RescanInterval.
func (s *Store) Forget() { s.scannedAt(time.Time{}) }

// Remember lets nobody look at the token again, however slow the test is.
func (s *Store) Remember() { s.scannedAt(time.Now().Add(time.Hour)) }

func (s *Store) scannedAt(at time.Time) {
	s.scanning <- struct{}{}
	s.lastScan = at
	<-s.scanning
}
