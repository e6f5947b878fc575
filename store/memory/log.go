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
	kept := s.log(organizationID)
	kept.indexes[id] = kept.head.Size
	kept.rows = append(kept.rows, kept.head.Append(leaf))
	s.used += leafCost(leaf)
}

// log returns the log of an organization, which it creates.
func (s *Store) log(organizationID string) *log {
	kept := s.logs[organizationID]
	if kept == nil {
		kept = &log{indexes: map[string]int64{}}
		s.logs[organizationID] = kept
	}
	return kept
}

// admit is store.Admit for the log of an organization.
func (s *Store) admit(organizationID string, sent time.Time) error {
	if kept := s.logs[organizationID]; kept != nil {
		return store.Admit(&kept.head, sent)
	}
	return nil
}

// AppendLeaves implements store.Log.
func (s *Store) AppendLeaves(ctx context.Context, organizationID string, size int64, leaves []store.LogEntry) (index int64, err error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if kept := s.logs[organizationID]; kept != nil {
		index = kept.head.Size
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
	if kept := s.logs[organizationID]; kept != nil {
		head = kept.head
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
	for organizationID, kept := range s.logs {
		if len(organizationIDs) == 0 || slices.Contains(organizationIDs, organizationID) {
			heads[organizationID] = kept.head
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
	kept := s.log(organizationID)
	store.Mark(&kept.head, conflict)
	return kept.head, nil
}

// AcceptConflict implements store.Log.
func (s *Store) AcceptConflict(ctx context.Context, organizationID string, accepted store.Acceptance) (translog.Head, error) {
	if err := s.lock(ctx); err != nil {
		return translog.Head{}, err
	}
	defer s.mu.Unlock()
	kept := s.log(organizationID)
	index := kept.head.Size
	row, err := accepted.Apply(&kept.head, accepted.Now)
	if err != nil {
		return kept.head, err
	}
	kept.indexes[accepted.Leaf.ID] = index
	kept.rows = append(kept.rows, row)
	s.used += leafCost(row.Leaf)
	return kept.head, nil
}

// LogRows implements store.Log.
func (s *Store) LogRows(ctx context.Context, organizationID string, indexes []int64) ([]translog.Row, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	kept := s.logs[organizationID]
	rows := make([]translog.Row, len(indexes))
	for i, index := range indexes {
		if kept == nil || index < 0 || index >= int64(len(kept.rows)) {
			return nil, fmt.Errorf("%w: leaf %d", translog.ErrMissing, index)
		}
		rows[i] = kept.rows[index]
	}
	return rows, nil
}

// LogIndex implements store.Log.
func (s *Store) LogIndex(ctx context.Context, organizationID, id string) (int64, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if kept := s.logs[organizationID]; kept != nil {
		if index, ok := kept.indexes[id]; ok {
			return index, nil
		}
	}
	return 0, store.ErrNotFound
}
