package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// log is the log of an organization.
type log struct {
	head    translog.Head
	rows    []translog.Row
	indexes map[string]int64 // by id
}

// rowCost is the approximate memory of a leaf in addition to its bytes: its hashes, two
// on average, its id and its index.
const rowCost = 256

func leafCost(leaf []byte) int {
	if leaf == nil {
		return 0
	}
	return rowCost + len(leaf)
}

// append adds a leaf. The caller has checked that there is room.
func (s *Store) append(organizationID, id string, leaf []byte) {
	at := s.log(organizationID)
	at.indexes[id] = at.head.Size
	at.rows = append(at.rows, at.head.Append(leaf))
	s.used += leafCost(leaf)
}

// log returns the log of an organization, which it creates.
func (s *Store) log(organizationID string) *log {
	at := s.logs[organizationID]
	if at == nil {
		at = &log{indexes: map[string]int64{}}
		s.logs[organizationID] = at
	}
	return at
}

// admit is store.Admit for the log of an organization.
func (s *Store) admit(organizationID string, sent time.Time) error {
	if at := s.logs[organizationID]; at != nil {
		return store.Admit(&at.head, sent)
	}
	return nil
}

// AppendLeaves implements store.Log.
func (s *Store) AppendLeaves(ctx context.Context, organizationID string, size int64, leaves []store.LogEntry) (index int64, err error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if at := s.logs[organizationID]; at != nil {
		index = at.head.Size
	}
	if err := s.admit(organizationID, time.Time{}); err != nil {
		return 0, err
	}
	if size >= 0 && index != size {
		return 0, store.ErrChanged
	}
	cost := 0
	for _, entry := range leaves {
		cost += leafCost(entry.Leaf)
	}
	if err := s.room(cost); err != nil {
		return 0, err
	}
	for _, entry := range leaves {
		s.append(organizationID, entry.ID, entry.Leaf)
	}
	return index, nil
}

// LogHead implements store.Log.
func (s *Store) LogHead(ctx context.Context, organizationID string) (head translog.Head, err error) {
	if err := s.lock(ctx); err != nil {
		return head, err
	}
	defer s.mu.Unlock()
	if at := s.logs[organizationID]; at != nil {
		head = at.head
	}
	return head, nil
}

// LogHeads implements store.Log.
func (s *Store) LogHeads(ctx context.Context, organizationIDs ...string) (map[string]translog.Head, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	heads := map[string]translog.Head{}
	for organizationID, at := range s.logs {
		if len(organizationIDs) == 0 || slices.Contains(organizationIDs, organizationID) {
			heads[organizationID] = at.head
		}
	}
	return heads, nil
}

// MarkConflict implements store.Log.
func (s *Store) MarkConflict(ctx context.Context, organizationID string, conflict translog.Conflict) (translog.Head, error) {
	if err := s.lock(ctx); err != nil {
		return translog.Head{}, err
	}
	defer s.mu.Unlock()
	at := s.log(organizationID)
	store.Mark(&at.head, conflict)
	return at.head, nil
}

// AcceptConflict implements store.Log.
func (s *Store) AcceptConflict(ctx context.Context, organizationID string, accepted store.Acceptance) (translog.Head, error) {
	if err := s.lock(ctx); err != nil {
		return translog.Head{}, err
	}
	defer s.mu.Unlock()
	at := s.log(organizationID)
	index := at.head.Size
	row, err := accepted.Apply(&at.head, accepted.Now)
	if err != nil {
		return at.head, err
	}
	at.indexes[accepted.Leaf.ID] = index
	at.rows = append(at.rows, row)
	s.used += leafCost(row.Leaf)
	return at.head, nil
}

// LogRows implements store.Log.
func (s *Store) LogRows(ctx context.Context, organizationID string, indexes []int64) ([]translog.Row, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	at := s.logs[organizationID]
	rows := make([]translog.Row, len(indexes))
	for i, index := range indexes {
		if at == nil || index < 0 || index >= int64(len(at.rows)) {
			return nil, fmt.Errorf("%w: leaf %d", translog.ErrMissing, index)
		}
		rows[i] = at.rows[index]
	}
	return rows, nil
}

// LogIndex implements store.Log.
func (s *Store) LogIndex(ctx context.Context, organizationID, id string) (int64, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if at := s.logs[organizationID]; at != nil {
		if index, ok := at.indexes[id]; ok {
			return index, nil
		}
	}
	return 0, store.ErrNotFound
}
