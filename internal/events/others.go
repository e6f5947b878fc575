package events

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// Others tells events that are about no activity. They are of the store's second class: best
// effort, and the first to go.
type Others struct {
	Outbox   store.Outbox
	Types    []activity.EventType // the others are not told
	Logger   *slog.Logger
	Now      func() time.Time
	Next     countersign.Observer // is told of every request; may be nil
	Conflict func() []string      // organizations whose logs are in conflict; may be nil

	mu       sync.Mutex
	refused  map[refusal]int
	reloads  int      // in this minute
	conflict []string // told before
}

// refusal is what refused requests are counted by in each minute.
type refusal struct{ organization, user, rule, reason string }

// maxRefusals bounds how many kinds of refusals are counted in a minute.
const maxRefusals = 1000

// Observe implements countersign.Observer. It counts requests of known users that were refused.
func (o *Others) Observe(seen countersign.Observation) {
	if o.Next != nil {
		o.Next.Observe(seen)
	}
	if seen.Reason == "" || seen.UserID == "" || !slices.Contains(o.Types, activity.EventRefused) {
		return
	}
	by := refusal{seen.OrganizationID, seen.UserID, seen.Rule, string(seen.Reason)}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refused == nil {
		o.refused = map[refusal]int{}
	}
	if _, known := o.refused[by]; known || len(o.refused) < maxRefusals {
		o.refused[by]++
	}
}

// Run tells what was counted, each minute, until the context ends.
func (o *Others) Run(ctx context.Context) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			o.tellRefused(ctx)
			o.mu.Lock()
			more := o.reloads - 1
			o.reloads = 0
			o.mu.Unlock()
			if more > 0 {
				o.Tell(ctx, activity.EventReloaded, activity.EventData{Count: more})
			}
			o.tellConflicts(ctx)
		}
	}
}

func (o *Others) tellRefused(ctx context.Context) {
	o.mu.Lock()
	refused := o.refused
	o.refused = nil
	o.mu.Unlock()
	for by, count := range refused {
		data := activity.EventData{OrganizationID: by.organization, UserID: by.user, Reason: by.reason, Count: count}
		if by.rule != "" {
			data.Rules = []string{by.rule}
		}
		o.Tell(ctx, activity.EventRefused, data)
	}
}

// Reloaded tells that the configuration was read again: the first time in a minute at once,
// all others together at its end.
func (o *Others) Reloaded(ctx context.Context) {
	if o == nil {
		return
	}
	o.mu.Lock()
	o.reloads++
	first := o.reloads == 1
	o.mu.Unlock()
	if first {
		o.Tell(ctx, activity.EventReloaded, activity.EventData{})
	}
}

func (o *Others) tellConflicts(ctx context.Context) {
	if o.Conflict == nil {
		return
	}
	organizations := o.Conflict()
	for _, organization := range organizations {
		if !slices.Contains(o.conflict, organization) {
			o.Tell(ctx, activity.EventLogConflict, activity.EventData{OrganizationID: organization})
		}
	}
	o.conflict = organizations
}

// Tell adds one event, if its type is to be told. It fails silently but for the log. A nil
// Others tells nothing.
func (o *Others) Tell(ctx context.Context, kind activity.EventType, data activity.EventData) {
	if o == nil || !slices.Contains(o.Types, kind) {
		return
	}
	event := activity.Event{Type: kind, Timestamp: o.Now().UTC(), Data: data}
	encoded, err := event.Encode()
	if err == nil {
		err = o.Outbox.AddEvents(ctx, data.OrganizationID,
			[]store.Event{{ID: "evt_" + uuid.NewString(), At: event.Timestamp, Data: encoded}})
	}
	if err != nil {
		o.Logger.Warn("an event could not be told", "type", string(kind), "cause", err)
	}
}
