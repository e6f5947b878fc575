package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/metrics"
	"github.com/countersign-dev/countersign/store"
)

// told is what a server does about events. All of it is nil without a configuration.
type told struct {
	ring   *events.Ring
	others *events.Others
	sender *events.Sender
}

// newTold returns what sees the requests, before there is a store.
func (c *Command) newTold(configured *config.Config, observer countersign.Observer) *told {
	if configured.Events == nil {
		return &told{}
	}
	return &told{ring: new(events.Ring), others: &events.Others{Types: configured.Events.Wanted(), Logger: c.log, Now: time.Now, Next: observer}}
}

// over returns the store through which the events go.
func (t *told) over(configured *config.Config) func(store.Full) store.Full {
	if t.ring == nil {
		return nil
	}
	return func(opened store.Full) store.Full {
		through := &events.Store{Full: opened, Ring: t.ring, Keep: configured.Events.Delivered()}
		t.others.Outbox = through
		return through
	}
}

// observer returns what the engine reports requests to.
func (t *told) observer(otherwise countersign.Observer) countersign.Observer {
	if t.others == nil {
		return otherwise
	}
	return t.others
}

// tell starts to deliver events until the returned function is called.
func (c *Command) tell(ctx context.Context, t *told, configured *config.Config, records store.Full, observer *metrics.Metrics, conflicts func() []string) (stop func(), err error) {
	t.sender, err = deployment.OpenEvents(ctx, configured.Events, records, c.log)
	if err != nil {
		return nil, err
	}
	observer.WatchEvents(func() metrics.Events {
		stats := t.sender.Stats()
		return metrics.Events{
			Delivered: stats.Delivered, Failed: stats.Failed, Dropped: stats.Dropped, DroppedOthers: stats.DroppedOthers,
			Waiting: stats.Waiting, Oldest: stats.Oldest,
		}
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	if t.others != nil {
		t.others.Conflict = conflicts
		running.Go(func() { t.others.Run(ctx) })
	}
	if t.sender != nil {
		running.Go(func() { t.sender.Run(ctx) })
	}
	return func() {
		cancel()
		running.Wait()
	}, nil
}

// withEvents serves the latest events at the admin address.
func (t *told) withEvents(admin http.Handler) http.Handler {
	if t.ring == nil {
		return admin
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+events.Path, t.ring)
	mux.Handle("/", admin)
	return mux
}
