package serve

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// followKeys takes in what other processes change in the keystore, until close: a server without
// requests does not look up a key, and would keep the secret of one that was deleted or disabled.
func (s *Server) followKeys(ctx context.Context) {
	changing, ok := s.keys.(keystore.Refresher)
	if !ok {
		return
	}
	s.background(ctx, func(ctx context.Context) {
		ticker := time.NewTicker(keystore.RefreshInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := changing.Refresh(ctx); err != nil && ctx.Err() == nil {
					s.log.Warn("changes of the keystore cannot be read", "cause", err)
				}
			}
		}
	})
}
