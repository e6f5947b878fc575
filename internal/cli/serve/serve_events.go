package serve

import (
	"context"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/store"
)

// notifier tells about events. All of it is nil without a configuration.
type notifier struct {
	configured *config.Events
	ring       *events.Ring
	others     *events.Others
	sender     *events.Sender
}

// begin makes what sees the requests, before there is a store.
func (n *notifier) begin(configured *config.Events, log *slog.Logger, observer countersign.Observer) {
	if n.configured = configured; configured == nil {
		return
	}
	n.ring = new(events.Ring)
	n.others = &events.Others{Types: configured.Wanted(), Logger: log, Now: time.Now, Next: observer}
}

// over returns the store through which the events go.
func (n *notifier) over() func(store.Full) store.Full {
	if n.ring == nil {
		return nil
	}
	return func(opened store.Full) store.Full {
		through := &events.Store{Full: opened, Ring: n.ring, Keep: n.configured.Delivered()}
		n.others.Outbox = through
		return through
	}
}

// observer returns what the engine reports requests to.
func (n *notifier) observer(otherwise countersign.Observer) countersign.Observer {
	if n.others == nil {
		return otherwise
	}
	return n.others
}

// notify delivers events until close.
func (s *Server) notify(ctx context.Context) (err error) {
	n := &s.notifier
	if n.sender, err = deployment.OpenEvents(ctx, n.configured, s.records, s.log); err != nil {
		return err
	}
	var running []func(context.Context)
	if n.others != nil {
		n.others.Conflict = s.memory.Conflicts
		running = append(running, n.others.Run)
	}
	if n.sender != nil {
		running = append(running, n.sender.Run)
	}
	s.background(ctx, running...)
	return nil
}
