package memory

import (
	"container/heap"
	"context"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// kindActivity marks activities in the heap. Ledger entries are marked with the kind of their key.
const kindActivity store.Kind = 0

// expiring is an element of the heap: something that may expire at a time. If it is to be
// kept longer by then, it is added to the heap again.
type expiring struct {
	at           time.Time
	kind         store.Kind
	organization string
	key          [32]byte // the fingerprint of an activity, or the ID of an entry
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

// add is heap.Push without a copy of the element.
func (h *expiryHeap) add(e expiring) {
	*h = append(*h, e)
	heap.Fix(h, len(*h)-1)
}

// sweepStep is how many expired elements are removed with each new request: more than
// one, so that the store shrinks faster than it grows.
const sweepStep = 4

func (s *Store) Sweep(ctx context.Context, now time.Time) (store.SweepStats, error) {
	if err := s.lock(ctx); err != nil {
		return store.SweepStats{}, err
	}
	defer s.mu.Unlock()
	swept := s.sweep(now, len(s.expiry))
	swept.Leases = s.leases.Sweep(now)
	return swept, nil
}

func (s *Store) sweep(now time.Time, most int) (swept store.SweepStats) {
	for ; most > 0 && len(s.expiry) > 0 && now.After(s.expiry[0].at); most-- {
		first := heap.Pop(&s.expiry).(expiring)
		if first.kind == kindActivity {
			swept.Activities += s.sweepActivity(first, now)
		} else {
			swept.Entries += s.sweepEntry(first, now)
		}
	}
	return swept
}

func (s *Store) sweepActivity(e expiring, now time.Time) int {
	entry := s.activities[requestKey{e.organization, e.key}]
	switch {
	case entry == nil || !entry.due.Equal(e.at):
		return 0 // the heap has an earlier element for it
	case !now.After(entry.KeepUntil):
		entry.due, e.at = entry.KeepUntil, entry.KeepUntil
		s.expiry.add(e)
		return 0
	}
	if entry.KeepUntil.After(s.forgotten) {
		s.forgotten = entry.KeepUntil
	}
	s.remove(entry)
	return 1
}

func (s *Store) sweepEntry(e expiring, now time.Time) int {
	key := entryKey{e.organization, store.Key{Kind: e.kind, ID: e.key}}
	kept := s.entries[key]
	switch {
	case kept == nil || !kept.due.Equal(e.at):
		return 0 // the heap has an earlier element for it
	case kept.Value != nil && !now.After(kept.KeepUntil):
		kept.due, e.at = kept.KeepUntil, kept.KeepUntil
		s.expiry.add(e)
		return 0
	}
	delete(s.entries, key)
	s.used -= kept.cost()
	if kept.Value == nil {
		return 0
	}
	return 1
}
