// Package memory keeps activities and ledgers in memory: for embedders of a single process
// that can afford to lose them, and for tests.
//
// It forgets a completed activity after its KeepUntil, and from then on refuses requests that could
// be the one it forgot: while the process lives, no request is carried out twice, whatever the
// clock does. Leaves of the log are kept forever, without their records.
//
// The store is bounded in bytes. When it is full of activities that may still be asked
// for, it refuses new ones with store.ErrFull. It never evicts: a request whose record was
// evicted could be carried out twice.
package memory

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/leases"
)

// DefaultMaxBytes is the default bound of a store: 256 MiB, enough for about 150,000
// signed transactions in the hour for which their requests are live.
const DefaultMaxBytes = 256 << 20

// Store is a store.Store. Use New to create one.
type Store struct {
	*space
	*logs
	*outbox
	seen       time.Time // the latest time that a caller passed
	forgotten  time.Time // the latest KeepUntil of a forgotten activity
	activities map[requestKey]*kept
	ids        map[idKey]*kept
	waiting    map[requestKey]*kept
	order      map[string]*list.List // of *kept, by organization, sorted by ID
	entries    map[entryKey]*entry
	expiry     expiryHeap
}

var _ store.Full = (*Store)(nil)

type (
	requestKey struct {
		organization string
		fingerprint  store.Fingerprint
	}
	idKey struct {
		organization string
		id           string
	}
	entryKey struct {
		organization string
		key          store.Key
	}
)

// Memory that is taken in addition to the bytes stored: structs, and their share of the
// maps and of the expiry heap. TestCost compares these with what is allocated.
const (
	activityCost = 896
	entryCost    = 512
)

// New creates an empty store that keeps at most maxBytes; zero means DefaultMaxBytes.
func New(maxBytes int) *Store {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	space := &space{maxBytes: maxBytes, leases: leases.New()}
	return &Store{
		space:      space,
		logs:       &logs{space, map[string]*log{}},
		outbox:     &outbox{space: space, events: map[string][]store.Pending{}},
		activities: map[requestKey]*kept{},
		ids:        map[idKey]*kept{},
		waiting:    map[requestKey]*kept{},
		order:      map[string]*list.List{},
		entries:    map[entryKey]*entry{},
	}
}

func (s *Store) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	if err := s.lock(ctx); err != nil {
		return store.BeginResult{}, err
	}
	defer s.mu.Unlock()
	s.sweep(claim.Now, sweepStep)
	recorded := s.activities[requestKey{claim.OrganizationID, claim.Fingerprint}]
	var superseded error
	if !claim.Sent.IsZero() {
		superseded = s.admit(claim.OrganizationID, claim.Sent, claim.Of)
	}
	switch {
	case errors.Is(superseded, store.ErrConflict):
		return store.BeginResult{}, superseded
	case recorded != nil && !claim.Takes(recorded.Activity):
		return store.BeginResult{Recorded: recorded.Activity}, nil
	case recorded == nil && claim.Revision != 0:
		return store.BeginResult{}, store.ErrChanged
	case superseded != nil:
		return store.BeginResult{}, superseded
	case recorded == nil && (claim.Stale() || !s.forgotten.IsZero() && !claim.LiveUntil.After(s.forgotten)):
		return s.leases.Waiting(claim)
	}
	claim.Size += activityCost
	begun, err := s.leases.Take(claim)
	if err != nil || begun.Lease == nil {
		return begun, err
	}
	if err := s.beginChange(claim, change); err != nil {
		s.leases.End(*begun.Lease)
		return store.BeginResult{}, err
	}
	return begun, nil
}

func (s *Store) beginChange(claim store.Claim, change store.Change) error {
	if err := s.room(0); err != nil {
		s.sweep(claim.Now, len(s.expiry))
		if err := s.room(0); err != nil {
			return err
		}
	}
	return s.apply(claim.OrganizationID, change, false)
}

func (s *Store) Renew(ctx context.Context, lease store.Lease, ttl time.Duration, now time.Time) (store.Lease, error) {
	if err := ctx.Err(); err != nil {
		return store.Lease{}, err
	}
	return s.leases.Renew(lease, ttl, now)
}

func (s *Store) Complete(ctx context.Context, lease store.Lease, activity store.Activity, change store.Change) error {
	return s.end(ctx, lease, func() error { return s.record(lease, activity, change) })
}

// end ends a lease with a change, unless that fails.
func (s *Store) end(ctx context.Context, lease store.Lease, change func() error) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.leases.Pin(lease); err != nil {
		return err
	}
	if err := change(); err != nil {
		s.leases.Unpin(lease)
		return err
	}
	s.leases.End(lease)
	return nil
}

func (s *Store) record(lease store.Lease, activity store.Activity, change store.Change) error {
	activity.OrganizationID, activity.Fingerprint, activity.At = lease.OrganizationID, lease.Fingerprint, lease.At
	activity.Revision = 1
	if !activity.Sent.IsZero() {
		if err := s.admit(activity.OrganizationID, activity.Sent, activity.Of); err != nil {
			return err
		}
	}
	before := s.activities[requestKey{activity.OrganizationID, activity.Fingerprint}]
	if before != nil {
		activity.Revision = before.Revision + 1
	}
	if taken := s.ids[idKey{activity.OrganizationID, activity.ID}]; taken != before ||
		before != nil && before.ID != activity.ID {
		return fmt.Errorf("store: activity id %s is taken", activity.ID)
	}
	if activity.Bounds() {
		var others store.Crowd
		for _, other := range s.waiting {
			others.Count(&activity, other.Activity)
		}
		if err := activity.Admit(others); err != nil {
			return err
		}
	}
	return s.put(activity, before, s.leases.Size(lease), change)
}

// fitted returns data without its spare capacity, if there is much.
func fitted(data []byte) []byte {
	const spare = 8
	if cap(data)-len(data) > len(data)/spare {
		return append(make([]byte, 0, len(data)), data...)
	}
	return data
}

func costOf(activity *store.Activity) int {
	return activityCost + cap(activity.Data) + len(activity.ID) + len(activity.SubmittedBy) +
		len(activity.OrganizationID) +
		len(activity.User) + len(activity.Type) + len(activity.Status)
}

func (s *Store) Release(ctx context.Context, lease store.Lease, change store.Change) error {
	return s.end(ctx, lease, func() error { return s.apply(lease.OrganizationID, change, true) })
}

func (s *Store) Get(ctx context.Context, organizationID, id string) (store.Activity, error) {
	if err := s.lock(ctx); err != nil {
		return store.Activity{}, err
	}
	defer s.mu.Unlock()
	entry := s.ids[idKey{organizationID, id}]
	if entry == nil {
		return store.Activity{}, store.ErrNotFound
	}
	return *entry.Activity, nil
}

func (s *Store) Change(ctx context.Context, organizationID string, change store.Change) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.sweep(s.seen, sweepStep)
	return s.apply(organizationID, change, false)
}

// Forgets implements store.Retention: it does.
func (s *Store) Forgets() bool { return true }

func (s *Store) Close() error {
	s.leases.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.activities, s.ids, s.waiting, s.order, s.entries, s.expiry = nil, nil, nil, nil, nil, nil
	s.logs.all, s.events = nil, nil
	return nil
}

// space is the bounded memory of a store, under one lock.
type space struct {
	maxBytes int
	leases   *leases.Table // their requests have memory reserved

	mu     sync.Mutex
	closed bool
	used   int
}

// lock locks the store, unless the context has ended or the store is closed.
func (s *space) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return store.ErrClosed
	}
	return nil
}

// room returns ErrFull if there is no room for more bytes.
func (s *space) room(more int) error {
	if s.used+s.leases.Reserved()+more > s.maxBytes {
		return fmt.Errorf("%w: %d of %d bytes are taken", store.ErrFull, s.used+s.leases.Reserved(), s.maxBytes)
	}
	return nil
}

func (s *space) Ping(ctx context.Context) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	s.mu.Unlock()
	return nil
}

// Used returns how many bytes are taken, including those reserved by leases.
func (s *space) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used + s.leases.Reserved()
}
