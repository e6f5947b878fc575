package serve

import (
	"context"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// followKeys takes in what other processes change in the keystore, until the returned function
// is called: a server without requests does not look up a key, and would keep the secret of one
// that was deleted or disabled.
func (c *Command) followKeys(ctx context.Context, keys keystore.Keystore) (stop func()) {
	changing, ok := keys.(keystore.Refresher)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(keystore.RefreshInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := changing.Refresh(ctx); err != nil && ctx.Err() == nil {
					c.log.Warn("changes of the keystore cannot be read", "cause", err)
				}
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
