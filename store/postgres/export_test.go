package postgres

// MaxConnections is how many connections there may be.
func (s *Store) MaxConnections() int32 { return s.pool.Config().MaxConns }
