package translog

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// Conflict says that the log of a store does not extend what a node had seen committed: a store was put
// back, emptied, or replaced by a replica that was behind. The log that was found instead is that of
// the [Head] which has the conflict: it does not grow until an operator accepts the loss.
type Conflict struct {
	Remembered tlog.Tree // the log that the node had seen
	Seen       time.Time // when it last saw it
	Found      time.Time // when it found another log
}

// Missing says what can be known about the leaves that a log of size found lacks.
func (c *Conflict) Missing(seen int64) string {
	if lost := c.Remembered.N - seen; lost > 0 {
		return fmt.Sprintf("%d leaves missing at least", lost)
	}
	return "another history"
}

// Extends returns nil if the log of a source, whose head is given, extends a tree. The error wraps
// [ErrShorter] or [ErrFork] if it does not, and [ErrMissing] or [ErrChanged] if the log is damaged.
func Extends(ctx context.Context, source Source, head *Head, old tlog.Tree) error {
	advance := &Advance{Old: old.N}
	var err error
	if old.N < head.Size {
		if advance.Proof, err = Consistency(ctx, source, head.Size, old.N); err != nil {
			return err
		}
	}
	return extends(old, head.Tree(), advance)
}

// Denies reports whether an error of [Extends] says that the log does not extend the
// tree. Other errors are of the source, and say nothing about the log.
func Denies(err error) bool {
	return errors.Is(err, ErrShorter) || errors.Is(err, ErrFork) || errors.Is(err, ErrMissing) ||
		errors.Is(err, ErrChanged)
}

// acceptID is the beginning of the id of the leaf of an accepted conflict.
const acceptID = "accept/"

// NewAcceptLeaf returns the leaf that says that an operator accepted a conflict: that a log
// goes on from found. Its record is the SHA-256 of
//
//	"countersign.accept/1" ‖ remembered (size 8 ‖ root 32) ‖ found (size 8 ‖ root 32) ‖ at 8
//
// with integers in big-endian order and the time in milliseconds since the epoch.
func NewAcceptLeaf(organization string, remembered, seen tlog.Tree, at time.Time) Leaf {
	record := []byte("countersign.accept/1")
	for _, tree := range []tlog.Tree{remembered, seen} {
		record = append(binary.BigEndian.AppendUint64(record, uint64(tree.N)), tree.Hash[:]...)
	}
	record = binary.BigEndian.AppendUint64(record, milliseconds(at))
	id := acceptID + at.UTC().Format(time.RFC3339Nano)
	return Leaf{Organization: organization, ID: id, Record: sha256.Sum256(record)}
}

// conflictSize is the length of an encoded conflict.
const conflictSize = 8 + tlog.HashSize + 8 + 8

// milliseconds returns a time in milliseconds since the epoch, 0 if it is zero.
func milliseconds(at time.Time) uint64 {
	if at.IsZero() {
		return 0
	}
	return uint64(max(0, at.UnixMilli()))
}

// parseTime parses milliseconds since the epoch, 8 bytes.
func parseTime(in []byte) (time.Time, error) {
	switch at := binary.BigEndian.Uint64(in); {
	case at > math.MaxInt64:
		return time.Time{}, errHead
	case at == 0:
		return time.Time{}, nil
	default:
		return time.UnixMilli(int64(at)).UTC(), nil
	}
}
