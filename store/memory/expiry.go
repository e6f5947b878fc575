package memory

import (
	"container/heap"
	"context"
	"time"

	"github.com/countersign-dev/countersign/store"
)

type kind uint8

const (
	kindActivity kind = iota
	kindCode
	kindMeter
)

// expiring says when something was to expire when it was put in. A meter may
// have been extended since: it is asked again when its time comes.
type expiring struct {
	at           time.Time
	kind         kind
	organization string
	id           string   // of a code
	key          [32]byte // of a meter or an activity
}

type expiryHeap []expiring

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiryHeap) Push(x any)        { *h = append(*h, x.(expiring)) }
func (h *expiryHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (h *expiryHeap) add(e expiring) { heap.Push(h, e) }

// sweepStep is how much of what has expired goes with each new request: more
// than one, so that forgetting is faster than remembering.
const sweepStep = 4

func (s *Store) sweepSome(now time.Time) { s.sweep(now, sweepStep) }

func (s *Store) sweepAll(now time.Time) store.Swept { return s.sweep(now, len(s.expiry)) }

// Sweep implements store.Store.
func (s *Store) Sweep(ctx context.Context, now time.Time) (store.Swept, error) {
	if err := s.lock(ctx); err != nil {
		return store.Swept{}, err
	}
	defer s.mu.Unlock()
	swept := s.sweepAll(now)
	swept.Leases = s.leases.Sweep(now)
	return swept, nil
}

func (s *Store) sweep(now time.Time, most int) (swept store.Swept) {
	for ; most > 0 && len(s.expiry) > 0 && now.After(s.expiry[0].at); most-- {
		first := heap.Pop(&s.expiry).(expiring)
		switch first.kind {
		case kindActivity:
			swept.Activities += s.sweepActivity(first)
		case kindCode:
			swept.Codes += s.sweepCode(first)
		case kindMeter:
			swept.Meters += s.sweepMeter(first, now)
		}
	}
	return swept
}

func (s *Store) sweepActivity(e expiring) int {
	activity := s.activities[requestKey{e.organization, e.key}]
	if activity.KeepUntil.After(s.forgotten) {
		s.forgotten = activity.KeepUntil
	}
	delete(s.activities, requestKey{activity.OrganizationID, activity.Fingerprint})
	delete(s.ids, idKey{activity.OrganizationID, activity.ID})
	s.used -= costOf(activity)
	return 1
}

func (s *Store) sweepCode(e expiring) int {
	at := idKey{e.organization, e.id}
	code := s.codes[at]
	if code == nil || code.KeepUntil().After(e.at) {
		return 0 // taken back, or inserted again since: then it is due by another entry
	}
	delete(s.codes, at)
	s.used -= codeCost
	return 1
}

func (s *Store) sweepMeter(e expiring, now time.Time) int {
	at := meterKey{e.organization, e.key}
	meter := s.meters[at]
	if meter == nil {
		return 0
	}
	if until := meter.KeepUntil(); !now.After(until) {
		e.at = until
		s.expiry.add(e)
		return 0
	}
	delete(s.meters, at)
	s.used -= meterSize(meter)
	return 1
}
