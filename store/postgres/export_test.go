package postgres

import "time"

// MaxConnections is how many connections there may be.
func (s *Store) MaxConnections() int32 { return s.pool.Config().MaxConns }

// SetSilenceLimit returns what sets it back.
func SetSilenceLimit(limit time.Duration) (restore func()) {
	before := silenceLimit
	silenceLimit = limit
	return func() { silenceLimit = before }
}
