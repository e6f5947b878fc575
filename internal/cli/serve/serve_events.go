package serve

import (
	"context"

	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/events"
)

// notifier tells about events. All of it is nil without a configuration.
type notifier struct {
	ring   *events.Ring
	others *events.Others
	sender *events.Sender
}

// notify delivers events until close.
func (s *Server) notify(ctx context.Context) (err error) {
	n := &s.notifier
	if n.sender, err = deployment.OpenEvents(ctx, s.loaded().Configured.Events, s.records, s.log); err != nil {
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
