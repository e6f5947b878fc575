package store

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Bounds of an outbox.
const (
	// MaxEvents is how many events an organization can have in the outbox. The oldest go
	// first, those of the second class before all others.
	MaxEvents = 10_000

	// MaxEventBytes bounds Event.Data.
	MaxEventBytes = 64 << 10
)

// Event is a notification for a receiver outside the program.
type Event struct {
	ID   string    // unique; the same however often it is delivered
	At   time.Time // when it happened, to the millisecond
	Data []byte    // opaque
}

// Pending is an event in the outbox.
type Pending struct {
	Event
	OrganizationID string
	Activity       string // id of the activity whose change the event tells; empty in the second class
	Second         bool   // of the second class
	Place          uint64 // where the store keeps it; zero if it goes by the ID
}

// Lane names the events whose order counts: those of one activity, or one event that is about
// none. No lane waits for another.
type Lane struct {
	OrganizationID string
	Name           string // id of the activity, or of the event
}

// Lane returns the lane of an event.
func (p *Pending) Lane() Lane { return Lane{p.OrganizationID, cmp.Or(p.Activity, p.ID)} }

// LaneSet returns lanes as a set.
func LaneSet(lanes []Lane) map[Lane]bool {
	set := make(map[Lane]bool, len(lanes))
	for _, lane := range lanes {
		set[lane] = true
	}
	return set
}

// Backlog is what waits in an outbox.
type Backlog struct {
	Events int
	Oldest time.Time // zero if nothing waits
}

// Note counts an event.
func (b *Backlog) Note(at time.Time) {
	b.Events++
	if b.Oldest.IsZero() || at.Before(b.Oldest) {
		b.Oldest = at
	}
}

// Check returns an error if an event is too long.
func (e *Event) Check() error {
	if len(e.Data) > MaxEventBytes {
		return fmt.Errorf("store: an event of %d bytes: at most %d", len(e.Data), MaxEventBytes)
	}
	return nil
}

// Outbox is implemented by stores that keep events until they are delivered. Those of the first
// class come with an activity, in the transaction that changes it: see Activity.Event. Delivered
// events are removed, so that no position in a sequence has to be remembered.
type Outbox interface {
	// AddEvents adds events of the second class, which do not belong to an activity.
	AddEvents(ctx context.Context, organizationID string, events []Event) error

	// Events returns the events that wait, at most most of each organization: those of the
	// first class, then those of the second. Events about one activity are in the order of its
	// revisions; otherwise earlier ones come first, as far as the clocks agree. Lanes to skip are
	// left out, so that events that are not taken do not hide those behind them. The backlog counts all.
	Events(ctx context.Context, most int, skip []Lane) ([]Pending, Backlog, error)

	// RemoveEvents removes events. Those that are gone already are no error.
	RemoveEvents(ctx context.Context, events []Pending) error

	// TrimEvents removes what an organization has beyond MaxEvents, and what happened
	// before a time. It returns how many of the first and of the second class it removed.
	TrimEvents(ctx context.Context, before time.Time) (first, second int, err error)

	// HoldOutbox takes the lease on the outbox, or extends it, unless another holder has
	// it. It ends ttl from now, by the store's clock if several processes share the store. A
	// holder is known by a random number. Only the holder delivers events, so that each is
	// normally delivered once.
	HoldOutbox(ctx context.Context, holder uint64, ttl time.Duration, now time.Time) (held bool, err error)
}

// Excess returns which events of one organization TrimEvents removes: those from before a
// time, and then the oldest beyond MaxEvents, of the second class as long as there are any.
// The events of each class are in their order.
func Excess(events []Pending, before time.Time) (excess []Pending) {
	var kept, seconds []Pending
	for _, event := range events {
		switch {
		case event.At.Before(before):
			excess = append(excess, event)
		case event.Second:
			seconds = append(seconds, event)
		default:
			kept = append(kept, event)
		}
	}
	more := max(len(kept)+len(seconds)-MaxEvents, 0)
	ofSecond := min(more, len(seconds))
	excess = append(excess, seconds[:ofSecond]...)
	return append(excess, kept[:more-ofSecond]...)
}
