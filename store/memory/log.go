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

// logs are the logs of all organizations.
type logs struct {
	*space
	all map[string]*log
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
func (l *logs) append(organizationID, id string, leaf []byte) {
	kept := l.log(organizationID)
	kept.indexes[id] = kept.head.Size
	kept.rows = append(kept.rows, kept.head.Append(leaf))
	l.used += leafCost(leaf)
}

// log returns the log of an organization, which it creates.
func (l *logs) log(organizationID string) *log {
	kept := l.all[organizationID]
	if kept == nil {
		kept = &log{indexes: map[string]int64{}}
		l.all[organizationID] = kept
	}
	return kept
}

// admit is store.Admit for the log of an organization.
func (l *logs) admit(organizationID string, sent time.Time, of store.Stoppable) error {
	if kept := l.all[organizationID]; kept != nil {
		return store.Admit(&kept.head, sent, of)
	}
	return nil
}

func (l *logs) AppendLeaves(ctx context.Context, organizationID string, size int64,
	leaves []store.LogEntry) (index int64, err error) {
	if err := l.lock(ctx); err != nil {
		return 0, err
	}
	defer l.mu.Unlock()
	if kept := l.all[organizationID]; kept != nil {
		index = kept.head.Size
	}
	if err := l.admit(organizationID, time.Time{}, nil); err != nil {
		return 0, err
	}
	if size >= 0 && index != size {
		return 0, store.ErrChanged
	}
	cost := 0
	for _, entry := range leaves {
		cost += leafCost(entry.Leaf)
	}
	if err := l.room(cost); err != nil {
		return 0, err
	}
	for _, entry := range leaves {
		l.append(organizationID, entry.ID, entry.Leaf)
	}
	return index, nil
}

func (l *logs) LogHead(ctx context.Context, organizationID string) (head translog.Head, err error) {
	if err := l.lock(ctx); err != nil {
		return head, err
	}
	defer l.mu.Unlock()
	if kept := l.all[organizationID]; kept != nil {
		head = kept.head
	}
	return head, nil
}

func (l *logs) LogHeads(ctx context.Context, organizationIDs ...string) (map[string]translog.Head, error) {
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	heads := map[string]translog.Head{}
	for organizationID, kept := range l.all {
		if len(organizationIDs) == 0 || slices.Contains(organizationIDs, organizationID) {
			heads[organizationID] = kept.head
		}
	}
	return heads, nil
}

func (l *logs) MarkConflict(ctx context.Context, organizationID string,
	conflict translog.Conflict) (translog.Head, error) {
	if err := l.lock(ctx); err != nil {
		return translog.Head{}, err
	}
	defer l.mu.Unlock()
	kept := l.log(organizationID)
	store.Mark(&kept.head, conflict)
	return kept.head, nil
}

func (l *logs) AcceptConflict(ctx context.Context, organizationID string,
	accepted store.Acceptance) (translog.Head, error) {
	if err := l.lock(ctx); err != nil {
		return translog.Head{}, err
	}
	defer l.mu.Unlock()
	kept := l.log(organizationID)
	index := kept.head.Size
	row, err := accepted.Apply(&kept.head, accepted.Now)
	if err != nil {
		return kept.head, err
	}
	kept.indexes[accepted.Leaf.ID] = index
	kept.rows = append(kept.rows, row)
	l.used += leafCost(row.Leaf)
	return kept.head, nil
}

func (l *logs) LogRows(ctx context.Context, organizationID string, indexes []int64) ([]translog.Row, error) {
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	kept := l.all[organizationID]
	rows := make([]translog.Row, len(indexes))
	for i, index := range indexes {
		if kept == nil || index < 0 || index >= int64(len(kept.rows)) {
			return nil, fmt.Errorf("%w: leaf %d", translog.ErrMissing, index)
		}
		rows[i] = kept.rows[index]
	}
	return rows, nil
}

func (l *logs) LogIndex(ctx context.Context, organizationID, id string) (int64, error) {
	if err := l.lock(ctx); err != nil {
		return 0, err
	}
	defer l.mu.Unlock()
	if kept := l.all[organizationID]; kept != nil {
		if index, ok := kept.indexes[id]; ok {
			return index, nil
		}
	}
	return 0, store.ErrNotFound
}
