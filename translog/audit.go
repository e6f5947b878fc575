package translog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Errors of [Audit] and [Witness], for errors.Is.
var (
	// ErrShorter means that the log has fewer leaves than a checkpoint.
	ErrShorter = errors.New("translog: the newest leaves are missing")

	// ErrFork means that the log has another history than a checkpoint.
	ErrFork = errors.New("translog: another history")

	// ErrChanged means that a leaf or a record was modified.
	ErrChanged = errors.New("translog: changed")

	// ErrMissing means that a leaf or a record is gone.
	ErrMissing = errors.New("translog: missing")
)

const shorter = "the newest were cut off, or an earlier backup was restored"

// Audited counts what [Audit] has checked.
type Audited struct {
	Leaves  int64 // in the log
	Records int64 // compared with their leaves
}

// auditStep is the number of leaves read at a time.
const auditStep = 1000

// Audit recomputes all hashes of a log and its records, and compares them with the store's head and
// with a checkpoint. Without a checkpoint it cannot notice that the newest leaves are missing. record
// returns the stored record of a leaf, or nil if it is gone. The error says what was changed.
func Audit(ctx context.Context, source Source, checkpoint *Checkpoint,
	record func(ctx context.Context, leaf Leaf) ([]byte, error)) (Audited, error) {
	head, err := source.Head(ctx)
	if err != nil {
		return Audited{}, err
	}
	if checkpoint != nil && head.Size < checkpoint.Tree.N {
		return Audited{}, fmt.Errorf("%w: the log has %d leaves, the checkpoint %d: %s", ErrShorter, head.Size,
			checkpoint.Tree.N, shorter)
	}
	a := &auditor{source: source, checkpoint: checkpoint, record: record}
	for a.head.Size < head.Size {
		if err := a.step(ctx, min(auditStep, head.Size-a.head.Size)); err != nil {
			return a.audited, err
		}
	}
	if a.head.Tree() != head.Tree() {
		return a.audited, fmt.Errorf("%w: the head of the log is not that of its %d leaves", ErrChanged, head.Size)
	}
	if checkpoint == nil {
		return a.audited, nil
	}
	a.keepTree()
	if a.signed != checkpoint.Tree {
		return a.audited, fmt.Errorf("%w: the first %d leaves are not those that the checkpoint signs: the log was "+
			"rewritten, or continued from an earlier backup", ErrFork, checkpoint.Tree.N)
	}
	return a.audited, nil
}

// auditor rebuilds a log leaf by leaf.
type auditor struct {
	source     Source
	checkpoint *Checkpoint
	record     func(ctx context.Context, leaf Leaf) ([]byte, error)
	head       Head
	signed     tlog.Tree // the rebuilt tree at the size of the checkpoint
	audited    Audited
}

// step audits the next leaves.
func (a *auditor) step(ctx context.Context, count int64) error {
	indexes := make([]int64, count)
	for i := range indexes {
		indexes[i] = a.head.Size + int64(i)
	}
	rows, err := a.source.Rows(ctx, indexes)
	if err != nil {
		return err
	}
	if len(rows) != len(indexes) {
		return fmt.Errorf("%w: %d of %d leaves from leaf %d on were found", ErrMissing, len(rows), len(indexes),
			a.head.Size)
	}
	for _, row := range rows {
		a.keepTree()
		if err := a.leaf(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// keepTree keeps the rebuilt tree if it has the size of the checkpoint.
func (a *auditor) keepTree() {
	if a.checkpoint != nil && a.head.Size == a.checkpoint.Tree.N {
		a.signed = a.head.Tree()
	}
}

// leaf compares the next leaf with its hashes and its record.
func (a *auditor) leaf(ctx context.Context, row Row) error {
	index := a.head.Size
	leaf, err := ParseLeaf(row.Leaf)
	if err != nil {
		return fmt.Errorf("%w: leaf %d: %w", ErrChanged, index, err)
	}
	if hashed := a.head.Append(row.Leaf); !bytes.Equal(hashed.Hashes, row.Hashes) {
		return fmt.Errorf("%w: leaf %d (%s) does not have its stored hash", ErrChanged, index, leaf.ID)
	}
	a.audited.Leaves++
	if leaf.IsPolicy() || leaf.IsAccept() || leaf.IsWallet() {
		return nil
	}
	record, err := a.record(ctx, leaf)
	switch {
	case err != nil:
		return fmt.Errorf("leaf %d (%s): %w", index, leaf.ID, err)
	case record == nil:
		return fmt.Errorf("%w: leaf %d: the record of activity %s is gone", ErrMissing, index, leaf.ID)
	case sha256.Sum256(record) != leaf.Record:
		return fmt.Errorf("%w: leaf %d: the record of activity %s is not the one that was logged", ErrChanged, index,
			leaf.ID)
	}
	a.audited.Records++
	return nil
}
