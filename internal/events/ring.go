package events

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// ringSize is how many events a ring keeps.
const ringSize = 1000

// Seen is an event in a ring.
type Seen struct {
	Place uint64          `json:"place"`
	ID    string          `json:"id"`
	Event json.RawMessage `json:"event"`
}

// Ring keeps the latest events of this process.
type Ring struct {
	mu     sync.Mutex
	events []Seen // at most ringSize
	place  uint64
}

func (r *Ring) add(events ...store.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, event := range events {
		r.place++
		r.events = append(r.events, Seen{r.place, event.ID, event.Data})
	}
	r.events = r.events[max(0, len(r.events)-ringSize):]
}

// After returns the events after a place, the oldest first, as many as an answer has room for.
func (r *Ring) After(place uint64) []Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := []Seen{}
	size := 0
	for _, event := range r.events {
		if event.Place > place && (len(seen) == 0 || size+len(event.Event) < maxAnswer) {
			seen, size = append(seen, event), size+len(event.Event)+len(event.ID)+seenOverhead
		} else if event.Place > place {
			break
		}
	}
	return seen
}

// Bounds of an answer, in bytes. An event that is told here is far shorter: see activity.EventOf.
const (
	maxAnswer    = 48 << 10
	seenOverhead = 64
)

// Path is where a ring is served at the admin address.
const Path = "/events"

// ServeHTTP answers GET ?after=PLACE with an array of events.
func (r *Ring) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	after := uint64(0)
	if text := request.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseUint(text, 10, 64); err != nil {
			http.Error(w, "after: expected a number", http.StatusBadRequest)
			return
		}
	}
	answer, err := json.Marshal(r.After(after))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // the client is gone if it fails
}

// Store is a store whose events go through a ring. Without an endpoint that takes them, they
// go no further: nothing is written.
type Store struct {
	store.Full
	Ring *Ring
	Keep bool // in the outbox as well
}

// passing writes an activity whose event goes through the ring, and is taken away unless it is to be
// kept.
func (s *Store) passing(activity store.Activity, write func(store.Activity) error) error {
	event := activity.Event
	if !s.Keep {
		activity.Event = nil
	}
	err := write(activity)
	if err == nil && event != nil {
		s.Ring.add(*event)
	}
	return err
}

func (s *Store) Complete(ctx context.Context, lease store.Lease, activity store.Activity, change store.Change) error {
	return s.passing(activity, func(written store.Activity) error {
		return s.Full.Complete(ctx, lease, written, change)
	})
}

func (s *Store) Replace(ctx context.Context, activity store.Activity, now time.Time, change store.Change) error {
	return s.passing(activity, func(written store.Activity) error {
		return s.Full.Replace(ctx, written, now, change)
	})
}

func (s *Store) AddEvents(ctx context.Context, organizationID string, events []store.Event) (err error) {
	if s.Keep {
		err = s.Full.AddEvents(ctx, organizationID, events)
	}
	if err == nil {
		s.Ring.add(events...)
	}
	return err
}
