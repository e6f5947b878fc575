package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// leafKey is the key of a leaf. The keys of a log sort as its leaves do.
func leafKey(organizationID string, index int64) []byte {
	return within(organizationID, binary.BigEndian.AppendUint64(nil, uint64(index)))
}

// admit is store.Admit for the log of an organization.
func (t *transaction) admit(organizationID string, sent time.Time, of store.Stoppable) error {
	head, err := t.logHead(organizationID)
	if err != nil {
		return err
	}
	return store.Admit(&head, sent, of)
}

// appendTo adds a leaf and updates head, which the caller writes.
func (t *transaction) appendTo(head *translog.Head, organizationID, id string, leaf []byte) {
	index := head.Size
	t.putRow(organizationID, id, index, head.Append(leaf))
}

func (t *transaction) putRow(organizationID, id string, index int64, row translog.Row) {
	encoded := append(append([]byte{byte(len(row.Hashes) / tlog.HashSize)}, row.Hashes...), row.Leaf...)
	t.put(bucketLeaves, leafKey(organizationID, index), encoded)
	t.put(bucketIndexes, within(organizationID, []byte(id)), binary.BigEndian.AppendUint64(nil, uint64(index)))
}

func (t *transaction) logHead(organizationID string) (translog.Head, error) {
	head, err := translog.ParseHead(t.get(bucketHeads, within(organizationID, nil)))
	return head, unavailable(err)
}

func (t *transaction) logRow(organizationID string, index int64) (row translog.Row, err error) {
	value := t.get(bucketLeaves, leafKey(organizationID, index))
	if value == nil {
		return row, fmt.Errorf("%w: leaf %d", translog.ErrMissing, index)
	}
	if len(value) == 0 || len(value) < 1+int(value[0])*tlog.HashSize {
		return row, fmt.Errorf("%w: leaf %d has %d bytes", translog.ErrChanged, index, len(value))
	}
	kept := slices.Clone(value[1:])
	hashes := int(value[0]) * tlog.HashSize
	return translog.Row{Hashes: kept[:hashes:hashes], Leaf: kept[hashes:]}, nil
}

func (s *Store) AppendLeaves(ctx context.Context, organizationID string, size int64,
	leaves []store.LogEntry) (index int64, err error) {
	_, err = s.changeHead(ctx, organizationID, func(tx *transaction, head *translog.Head) error {
		if err := store.Admit(head, time.Time{}, nil); err != nil {
			return err
		}
		if size >= 0 && head.Size != size {
			return store.ErrChanged
		}
		index = head.Size
		for _, entry := range leaves {
			tx.appendTo(head, organizationID, entry.ID, entry.Leaf)
		}
		tx.put(bucketHeads, within(organizationID, nil), head.Encode())
		return nil
	})
	return index, err
}

func (s *Store) LogHead(ctx context.Context, organizationID string) (head translog.Head, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		head, err = tx.logHead(organizationID)
		return err
	})
	return head, err
}

func (s *Store) LogHeads(ctx context.Context, organizationIDs ...string) (map[string]translog.Head, error) {
	heads := map[string]translog.Head{}
	err := s.view(ctx, func(tx *transaction) (err error) {
		for _, organizationID := range organizationIDs {
			if heads[organizationID], err = tx.logHead(organizationID); err != nil {
				return err
			}
		}
		if len(organizationIDs) > 0 {
			return nil
		}
		return tx.tx.Bucket(bucketHeads).ForEach(func(key, value []byte) error {
			organizationID, _, err := cutText(key)
			if err != nil {
				return fmt.Errorf("%w: the key %x of a log is damaged", store.ErrUnavailable, key)
			}
			heads[organizationID], err = translog.ParseHead(tx.opened(bucketHeads, key, value))
			return unavailable(err)
		})
	})
	return heads, err
}

func (s *Store) MarkConflict(ctx context.Context, organizationID string,
	conflict translog.Conflict) (translog.Head, error) {
	return s.changeHead(ctx, organizationID, func(tx *transaction, head *translog.Head) error {
		if store.Mark(head, conflict) {
			tx.put(bucketHeads, within(organizationID, nil), head.Encode())
		}
		return nil
	})
}

func (s *Store) AcceptConflict(ctx context.Context, organizationID string,
	accepted store.Acceptance) (translog.Head, error) {
	return s.changeHead(ctx, organizationID, func(tx *transaction, head *translog.Head) error {
		index := head.Size
		row, err := accepted.Apply(head, accepted.Now)
		if err != nil {
			return err
		}
		tx.putRow(organizationID, accepted.Leaf.ID, index, row)
		tx.put(bucketHeads, within(organizationID, nil), head.Encode())
		return nil
	})
}

// changeHead calls change with the head of a log, which it writes, and returns the head.
func (s *Store) changeHead(ctx context.Context, organizationID string,
	change func(*transaction, *translog.Head) error) (head translog.Head, err error) {
	err = s.write(ctx, func(tx *transaction) (err error) {
		if head, err = tx.logHead(organizationID); err != nil {
			return err
		}
		return change(tx, &head)
	})
	return head, err
}

func (s *Store) LogRows(ctx context.Context, organizationID string, indexes []int64) (rows []translog.Row, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		for _, index := range indexes {
			row, err := tx.logRow(organizationID, index)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

func (s *Store) LogIndex(ctx context.Context, organizationID, id string) (index int64, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		value := tx.get(bucketIndexes, within(organizationID, []byte(id)))
		if len(value) != 8 {
			return store.ErrNotFound
		}
		index = int64(binary.BigEndian.Uint64(value))
		return nil
	})
	return index, err
}
