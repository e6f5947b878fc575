package translog

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// Source is the log of one organization in a store.
type Source interface {
	// Head returns the last committed head.
	Head(ctx context.Context) (Head, error)

	// Rows returns the rows of leaves. The indexes ascend. A missing row is an error.
	Rows(ctx context.Context, indexes []int64) ([]Row, error)
}

// hashReader reads nodes of the tree from the rows of a source.
type hashReader struct {
	ctx    context.Context
	source Source
}

func (r hashReader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var leaves []int64
	for _, index := range indexes {
		leaves = append(leaves, lastLeaf(index))
	}
	slices.Sort(leaves)
	leaves = slices.Compact(leaves)
	rows, err := r.source.Rows(r.ctx, leaves)
	if err != nil {
		return nil, err
	}
	if len(rows) != len(leaves) {
		return nil, fmt.Errorf("%w: %d of %d leaves were found", ErrMissing, len(rows), len(leaves))
	}
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, _ := tlog.SplitStoredHashIndex(index)
		leaf, from := lastLeaf(index), level*tlog.HashSize
		row, _ := slices.BinarySearch(leaves, leaf)
		if len(rows[row].Hashes) < from+tlog.HashSize {
			return nil, fmt.Errorf("%w: leaf %d has no hash of level %d", ErrChanged, leaf, level)
		}
		copy(hashes[i][:], rows[row].Hashes[from:])
	}
	return hashes, nil
}

// lastLeaf returns the last leaf of the subtree whose root has a stored-hash index.
func lastLeaf(index int64) int64 {
	level, n := tlog.SplitStoredHashIndex(index)
	return (n+1)<<level - 1
}

// TreeAt returns the tree of the first size leaves.
func TreeAt(ctx context.Context, source Source, size int64) (tlog.Tree, error) {
	hash, err := tlog.TreeHash(size, hashReader{ctx, source})
	return tlog.Tree{N: size, Hash: hash}, err
}

// Inclusion returns the proof that a leaf is in the tree of the first size leaves.
func Inclusion(ctx context.Context, source Source, size, index int64) (tlog.RecordProof, error) {
	if index < 0 || index >= size {
		return nil, fmt.Errorf("translog: leaf %d is not in a log of %d", index, size)
	}
	return tlog.ProveRecord(size, index, hashReader{ctx, source})
}

// Consistency returns the proof that the tree of the first size leaves extends that of the first old.
func Consistency(ctx context.Context, source Source, size, old int64) (tlog.TreeProof, error) {
	switch {
	case old < 0 || old > size:
		return nil, fmt.Errorf("%w: the log has %d leaves, fewer than the %d of the earlier checkpoint: %s", ErrShorter,
			size, old, shorter)
	case old == 0 || old == size:
		return nil, nil
	}
	return tlog.ProveTree(size, old, hashReader{ctx, source})
}
