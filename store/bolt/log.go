package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

var _ store.Log = (*Store)(nil)

// leafKey is where a leaf is: the keys of a log are in the order of its leaves.
func leafKey(organizationID string, index int64) []byte {
	return within(organizationID, binary.BigEndian.AppendUint64(nil, uint64(index)))
}

// appendLeaf adds a leaf to the log of an organization.
func (t *transaction) appendLeaf(organizationID, id string, leaf []byte) (index int64, err error) {
	head, err := t.logHead(organizationID)
	if err != nil {
		return 0, err
	}
	index = head.Size
	row := head.Append(leaf)
	encoded := append(append([]byte{byte(len(row.Hashes) / tlog.HashSize)}, row.Hashes...), row.Leaf...)
	if err := t.put(bucketLeaves, leafKey(organizationID, index), encoded); err != nil {
		return 0, err
	}
	if err := t.put(bucketIndexes, within(organizationID, []byte(id)), binary.BigEndian.AppendUint64(nil, uint64(index))); err != nil {
		return 0, err
	}
	return index, t.put(bucketHeads, within(organizationID, nil), head.Encode())
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

// AppendLeaf implements store.Log.
func (s *Store) AppendLeaf(ctx context.Context, organizationID, id string, leaf []byte) (index int64, err error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	err = s.writer.write(func(tx *transaction) (err error) {
		index, err = tx.appendLeaf(organizationID, id, leaf)
		return err
	}, nil)
	return index, err
}

// LogHead implements store.Log.
func (s *Store) LogHead(ctx context.Context, organizationID string) (head translog.Head, err error) {
	if err := s.usable(ctx); err != nil {
		return head, err
	}
	err = s.view(func(tx *transaction) error {
		head, err = tx.logHead(organizationID)
		return err
	})
	return head, err
}

// LogRows implements store.Log.
func (s *Store) LogRows(ctx context.Context, organizationID string, indexes []int64) (rows []translog.Row, err error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	err = s.view(func(tx *transaction) error {
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

// LogIndex implements store.Log.
func (s *Store) LogIndex(ctx context.Context, organizationID, id string) (index int64, err error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	err = s.view(func(tx *transaction) error {
		value := tx.get(bucketIndexes, within(organizationID, []byte(id)))
		if len(value) != 8 {
			return store.ErrNotFound
		}
		index = int64(binary.BigEndian.Uint64(value))
		return nil
	})
	return index, err
}
