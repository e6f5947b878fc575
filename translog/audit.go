package translog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Errors of Audit and Witness, for errors.Is.
var (
	// ErrShorter: the log has fewer leaves than a checkpoint.
	ErrShorter = errors.New("translog: the newest leaves are missing")

	// ErrFork: the log has another history than a checkpoint.
	ErrFork = errors.New("translog: another history")

	// ErrChanged: a leaf or a record is not as it was written.
	ErrChanged = errors.New("translog: changed")

	// ErrMissing: a leaf or a record is gone.
	ErrMissing = errors.New("translog: missing")
)

const shorter = "the newest were cut off, or an earlier backup was restored"

// Audited is what Audit has looked at.
type Audited struct {
	Leaves  int64 // in the log
	Records int64 // compared with their leaves
}

// auditStep is how many leaves are read at a time.
const auditStep = 1000

// Audit hashes a whole log again, each record included, and compares it with what
// the store says and with a checkpoint; without one, the newest leaves may be
// missing. record returns the record of a leaf as it is stored: nil, and no error,
// if it is gone. The error says what was changed.
func Audit(ctx context.Context, source Source, checkpoint *Checkpoint, record func(ctx context.Context, leaf Leaf) ([]byte, error)) (seen Audited, err error) {
	stored, err := source.Head(ctx)
	if err != nil {
		return seen, err
	}
	if checkpoint != nil && stored.Size < checkpoint.Tree.N {
		return seen, fmt.Errorf("%w: the log has %d leaves, the checkpoint %d: %s", ErrShorter, stored.Size, checkpoint.Tree.N, shorter)
	}
	a := &auditor{source: source, checkpoint: checkpoint, record: record}
	for a.head.Size < stored.Size {
		if err := a.step(ctx, min(auditStep, stored.Size-a.head.Size)); err != nil {
			return a.seen, err
		}
	}
	if a.head.Tree() != stored.Tree() {
		return a.seen, fmt.Errorf("%w: the head of the log is not that of its %d leaves", ErrChanged, stored.Size)
	}
	return a.seen, a.compare()
}

type auditor struct {
	source     Source
	checkpoint *Checkpoint
	record     func(ctx context.Context, leaf Leaf) ([]byte, error)
	head       Head
	at         *tlog.Tree // the tree at the size of the checkpoint
	seen       Audited
}

func (a *auditor) step(ctx context.Context, count int64) error {
	indexes := make([]int64, count)
	for i := range indexes {
		indexes[i] = a.head.Size + int64(i)
	}
	rows, err := a.source.Rows(ctx, indexes)
	if err != nil {
		return err
	}
	for _, row := range rows {
		a.keep()
		if err := a.one(ctx, row); err != nil {
			return err
		}
	}
	a.keep()
	return nil
}

// keep notes the tree that the checkpoint should have signed.
func (a *auditor) keep() {
	if a.checkpoint != nil && a.head.Size == a.checkpoint.Tree.N {
		tree := a.head.Tree()
		a.at = &tree
	}
}

// one compares a leaf with its record and its hashes.
func (a *auditor) one(ctx context.Context, row Row) error {
	index := a.head.Size
	leaf, err := ParseLeaf(row.Leaf)
	if err != nil {
		return fmt.Errorf("%w: leaf %d: %w", ErrChanged, index, err)
	}
	if hashed := a.head.Append(row.Leaf); !bytes.Equal(hashed.Hashes, row.Hashes) {
		return fmt.Errorf("%w: leaf %d (%s) does not have the hash that was kept of it", ErrChanged, index, leaf.ID)
	}
	a.seen.Leaves++
	if leaf.IsPolicy() {
		return nil
	}
	record, err := a.record(ctx, leaf)
	switch {
	case err != nil:
		return fmt.Errorf("leaf %d (%s): %w", index, leaf.ID, err)
	case record == nil:
		return fmt.Errorf("%w: leaf %d: the record of activity %s is gone", ErrMissing, index, leaf.ID)
	case sha256.Sum256(record) != leaf.Record:
		return fmt.Errorf("%w: leaf %d: the record of activity %s is not the one that was logged", ErrChanged, index, leaf.ID)
	}
	a.seen.Records++
	return nil
}

func (a *auditor) compare() error {
	if a.checkpoint == nil {
		return nil
	}
	a.keep()
	if *a.at != a.checkpoint.Tree {
		return fmt.Errorf("%w: the first %d leaves are not those that the checkpoint signs: the log was rewritten, or continued from an earlier backup", ErrFork, a.checkpoint.Tree.N)
	}
	return nil
}
