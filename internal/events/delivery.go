package events

import (
	"context"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// lane is the events of one activity in their order, or one event that is about no activity.
// Lanes are delivered side by side.
type lane []store.Pending

// laneOf names the lane of an event.
func laneOf(event *store.Pending) string {
	if event.Activity == "" {
		return event.ID
	}
	return event.OrganizationID + "\x00" + event.Activity
}

// lanesOf sorts events into lanes, by the first event of each.
func lanesOf(events []store.Pending) []lane {
	var lanes []lane
	number := map[string]int{}
	for i := range events {
		name := laneOf(&events[i])
		index, known := number[name]
		if !known {
			index, number[name] = len(lanes), len(lanes)
			lanes = append(lanes, nil)
		}
		lanes[index] = append(lanes[index], events[i])
	}
	return lanes
}

// late says when a lane is tried again whose first event was not taken.
type late struct {
	pause time.Duration
	until time.Time
}

// due returns the lanes that may be tried now: one, a probe, if the endpoint is away. It
// forgets the pauses of lanes that are gone.
func (s *Sender) due(lanes []lane) (due []lane, probe bool) {
	now := s.config.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := make(map[string]late, len(s.late))
	for _, lane := range lanes {
		name := laneOf(&lane[0])
		waits, known := s.late[name]
		if known {
			kept[name] = waits
		}
		if !now.Before(waits.until) {
			due = append(due, lane)
		}
	}
	s.late = kept
	if s.pause > 0 {
		return due[:min(1, len(due))], true
	}
	return due, false
}

// delivery is one round of attempts.
type delivery struct {
	sender *Sender
	probe  bool // the endpoint is away: this is one attempt

	mu        sync.Mutex
	lanes     []lane // not begun
	delivered bool
	stopped   bool
	err       error // of the outbox
}

// run delivers the lanes until the endpoint counts as away.
func (d *delivery) run(ctx context.Context) (delivered bool, err error) {
	var workers sync.WaitGroup
	for range min(atOnce, len(d.lanes)) {
		workers.Go(func() {
			for next := d.next(); next != nil; next = d.next() {
				d.deliver(ctx, next)
			}
		})
	}
	workers.Wait()
	return d.delivered, d.err
}

// next returns a lane that is to be begun, nil if there is none.
func (d *delivery) next() lane {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped || len(d.lanes) == 0 {
		return nil
	}
	first := d.lanes[0]
	d.lanes = d.lanes[1:]
	return first
}

// stop has no further lanes begun.
func (d *delivery) stop(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.err == nil {
		d.err = err
	}
}

// deliver delivers the events of a lane up to the first that is not taken.
func (d *delivery) deliver(ctx context.Context, events lane) {
	for i := range events {
		if held, err := d.sender.hold(ctx); err != nil || !held {
			d.stop(err)
			return
		}
		if err := d.sender.post(ctx, &events[i]); err != nil {
			if ctx.Err() != nil || d.sender.failed(&events[i], err, d.probe) {
				d.stop(nil)
			}
			return
		}
		if err := d.sender.config.Outbox.RemoveEvents(ctx, events[i:i+1]); err != nil {
			d.stop(err)
			return
		}
		d.sender.succeeded(&events[i])
		d.mu.Lock()
		d.delivered = true
		d.mu.Unlock()
	}
}

// succeeded notes that an event was taken: the endpoint is there.
func (s *Sender) succeeded(event *store.Pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inRow, s.pause = 0, 0
	delete(s.late, laneOf(event))
	s.stats.Delivered++
	s.stats.Waiting--
}

// warnEvery is how often failing attempts are logged.
const warnEvery = time.Minute

// failed notes that an event was not taken, and reports whether the endpoint counts as away.
// Its lane waits, longer each time. So does everything once a probe has failed.
func (s *Sender) failed(event *store.Pending, cause error, probe bool) (away bool) {
	now := s.config.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Failed++
	pause := longer(s.late[laneOf(event)].pause)
	s.late[laneOf(event)] = late{pause, now.Add(pause)}
	s.inRow++
	s.untold++
	if probe || s.inRow == patience {
		s.pause = longer(s.pause)
	}
	if now.Sub(s.warned) >= warnEvery {
		s.config.Logger.Warn("events were not taken", "attempts", s.untold, "last", event.ID, "organization", event.OrganizationID, "cause", cause, "away", s.pause > 0)
		s.warned, s.untold = now, 0
	}
	return s.pause > 0
}

func longer(pause time.Duration) time.Duration { return min(max(2*pause, firstPause), longPause) }

// rest pauses while the endpoint is away. The lease is extended meanwhile.
func (s *Sender) rest(ctx context.Context) {
	s.mu.Lock()
	pause := s.pause
	s.mu.Unlock()
	for left := pause; left > 0 && ctx.Err() == nil; left -= leaseTTL / 3 {
		s.sleep(ctx, min(left, leaseTTL/3))
		if held, err := s.hold(ctx); err != nil || !held {
			return
		}
	}
}
