package events

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/store"
)

// lane is events of one store.Lane, in their order. Lanes are delivered side by side.
type lane []store.Pending

// lanesOf sorts events into lanes. Organizations take turns, and so do the lanes of one that
// were tried before and those that were not.
func (s *Sender) lanesOf(events []store.Pending) []lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	type kind struct {
		organization string
		tried        bool
	}
	var lanes []lane
	number, turn, of := map[store.Lane]int{}, map[store.Lane]int{}, map[kind]int{}
	for i := range events {
		name := events[i].Lane()
		index, known := number[name]
		if !known {
			index, number[name] = len(lanes), len(lanes)
			waits := s.late[name]
			kind := kind{name.OrganizationID, waits.pause > 0}
			turn[name] = of[kind]
			of[kind]++
			lanes = append(lanes, nil)
		}
		lanes[index] = append(lanes[index], events[i])
	}
	slices.SortStableFunc(lanes, func(a, b lane) int { return turn[a[0].Lane()] - turn[b[0].Lane()] })
	return lanes
}

// late says when a lane is tried again whose first event was not taken.
type late struct {
	pause time.Duration
	until time.Time
}

// standing is how the events of an organization fare.
type standing struct {
	busy  int // attempts under way
	inRow int // failures since the last success
}

// attempt is the delivery of a lane.
type attempt struct {
	lane
	failing bool // the organization's last attempt had failed
	probe   bool // the endpoint is away: this is to find out whether it still is
}

// passed returns the lanes that are not to be read now: those under way, those that pause,
// and of those whose pause is over all but the first few of each organization, so that
// they do not hide events that were never tried.
func (s *Sender) passed() (skip []store.Lane) {
	now := s.config.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	skip = slices.Collect(maps.Keys(s.busy))
	var over []store.Lane
	for name, waits := range s.late {
		switch {
		case s.busy[name]:
		case now.Before(waits.until):
			skip = append(skip, name)
		default:
			over = append(over, name)
		}
	}
	slices.SortFunc(over, func(a, b store.Lane) int { return s.late[a].until.Compare(s.late[b].until) })
	of := map[string]int{}
	for _, name := range over {
		if of[name.OrganizationID]++; of[name.OrganizationID] > atOnce {
			skip = append(skip, name)
		}
	}
	return skip
}

// forget drops the pauses of lanes that were to be read and are not in the outbox any more.
func (s *Sender) forget(skipped []store.Lane, found []lane) {
	kept := store.LaneSet(skipped)
	for _, lane := range found {
		kept[lane[0].Lane()] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.late {
		if !kept[name] {
			delete(s.late, name)
		}
	}
}

// begin begins what may be tried now, and returns the other lanes.
func (s *Sender) begin(ctx context.Context, lanes []lane) (rest []lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lane := range lanes {
		of := s.standing[lane[0].OrganizationID]
		if of == nil {
			of = new(standing)
			s.standing[lane[0].OrganizationID] = of
		}
		if !s.may(of) {
			rest = append(rest, lane)
			continue
		}
		a := attempt{lane, of.inRow > 0, of.inRow > 0 && s.pause > 0}
		s.busy[lane[0].Lane()] = true
		of.busy++
		if a.failing {
			s.failing++
		}
		s.probing = s.probing || a.probe
		s.attempts.Go(func() { s.run(ctx, a) })
	}
	return rest
}

// may reports whether another event of an organization may be tried. One whose events fail
// leaves room to others, and tries one event at a time while the endpoint is away.
func (s *Sender) may(of *standing) bool {
	switch {
	case len(s.busy) >= atOnce:
		return false
	case of.inRow == 0:
		return true
	case s.pause > 0:
		return !s.probing && !s.config.Now().Before(s.probeAt)
	}
	return of.busy < atOnce/2 && s.failing < atOnce*3/4
}

// run delivers a lane. Its place is free again after a second, if none of the organization's
// events was taken for long: an endpoint that refuses all of them is not hammered.
func (s *Sender) run(ctx context.Context, a attempt) {
	name := a.lane[0].Lane()
	if s.deliver(ctx, a) >= patience {
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	delete(s.busy, name)
	of := s.standing[name.OrganizationID]
	of.busy--
	if a.failing {
		s.failing--
	}
	if a.probe {
		s.probing = false
	}
	if *of == (standing{}) {
		delete(s.standing, name.OrganizationID)
	}
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// deliver delivers the events of a lane up to the first that is not taken. It returns how
// many of the organization's were not taken in a row.
func (s *Sender) deliver(ctx context.Context, a attempt) (inRow int) {
	for i := range a.lane {
		if held, err := s.hold(ctx); err != nil || !held {
			return 0
		}
		err := s.endpoint.Post(ctx, a.lane[i].ID, s.config.Now(), a.lane[i].Data)
		if err == nil {
			err = s.config.Outbox.RemoveEvents(ctx, a.lane[i:i+1])
		}
		if ctx.Err() != nil {
			return 0
		}
		if err != nil {
			return s.failed(&a.lane[i], err, a.probe)
		}
		s.mu.Lock()
		s.unanswered, s.pause, s.standing[a.lane[i].OrganizationID].inRow = 0, 0, 0 // the endpoint is there
		delete(s.late, a.lane[i].Lane())
		s.stats.Delivered++
		s.stats.Waiting--
		s.mu.Unlock()
	}
	return 0
}

// warnEvery is how often failing attempts are logged.
const warnEvery = time.Minute

// failed notes that an event was not taken, and returns how many of its organization's were not in
// a row. Its lane waits, longer each time. An endpoint that answers is not away, whatever it says.
func (s *Sender) failed(event *store.Pending, cause error, probe bool) (inRow int) {
	now := s.config.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Failed++
	pause := longer(s.late[event.Lane()].pause)
	s.late[event.Lane()] = late{pause, now.Add(pause)}
	of := s.standing[event.OrganizationID]
	of.inRow++
	s.untold++
	if s.unanswered++; errors.Is(cause, webhook.ErrAnswered) {
		s.unanswered, s.pause = 0, 0
	} else if probe || s.unanswered == patience {
		s.pause = longer(s.pause)
		s.probeAt = now.Add(s.pause)
	}
	if now.Sub(s.warned) >= warnEvery {
		s.config.Logger.Warn("events were not taken", "attempts", s.untold, "last", event.ID, "organization",
			event.OrganizationID, "cause", cause, "away", s.pause > 0)
		s.warned, s.untold = now, 0
	}
	return of.inRow
}

func longer(pause time.Duration) time.Duration { return min(max(2*pause, firstPause), longPause) }
