package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// CheckedSize is the size in bytes up to which a file is checked as a whole when it is opened;
// of a larger one, [Store.Check] does so.
const CheckedSize = 1 << 30

// keyCounts has the number of entries of each counted bucket, in their order:
//
//	8 bytes each, sealed
//
// Each commit changes it. A damaged page can hide an entry, whose checksum is then not
// read; the number tells.
var keyCounts = []byte("counts")

// counted are the buckets whose entries are counted: those that this program writes to.
var counted = [...][]byte{
	bucketActivities, bucketWaiting, bucketLedgers, bucketExpiry, bucketHeads, bucketLeaves, bucketIndexes,
	bucketRequests, bucketWaited, bucketListing, bucketOutbox,
}

// counts are numbers of entries, or by how much they change.
type counts [len(counted)]int64

// add counts an entry of a bucket that is added, or with -1 removed.
func (c *counts) add(bucket []byte, change int64) {
	for i, name := range counted {
		if string(name) == string(bucket) {
			c[i] += change
			return
		}
	}
}

// counts returns the numbers that the last commit wrote.
func (t *transaction) counts() (c counts) {
	value := unseal(bucketMeta, keyCounts, t.tx.Bucket(bucketMeta).Get(keyCounts))
	if len(value) != 8*len(c) {
		panic(errCount)
	}
	for i := range c {
		c[i] = int64(binary.BigEndian.Uint64(value[8*i:]))
	}
	return c
}

func (t *transaction) setCounts(c counts) error {
	value := make([]byte, 0, 8*len(c))
	for _, n := range c {
		value = binary.BigEndian.AppendUint64(value, uint64(n))
	}
	return unavailable(t.tx.Bucket(bucketMeta).Put(keyCounts, seal(bucketMeta, keyCounts, value)))
}

// verify reads every entry, looks each up, and compares their number with the one that was written.
// It panics with what is damaged.
func (t *transaction) verify(ctx context.Context) error {
	var c counts
	for i, bucket := range counted {
		lookup := t.tx.Bucket(bucket).Cursor()
		for w := t.walk(bucket, nil, nil, false); w.key != nil; w.next() {
			if found, _ := lookup.Seek(w.key); !bytes.Equal(found, w.key) {
				panic(errOutOfOrder)
			}
			if c[i]++; c[i]%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	if c != t.counts() {
		panic(errCount)
	}
	return nil
}

// check is Check. bbolt's check works in a goroutine of its own, where a fault ends the process
// and a damaged length takes all memory: what it reads has been read before it.
func (f *file) check(ctx context.Context) error {
	return f.guard(func() error {
		tx, err := f.db.Begin(true) // bbolt's check wants no writer beside it
		if err != nil {
			return err
		}
		defer f.rollBack(tx)
		if err := (&transaction{tx: tx}).verify(ctx); err != nil {
			return err
		}
		if err := checkLengths(tx); err != nil {
			return f.damaged(err)
		}
		var problems []error
		for problem := range tx.Check() {
			if len(problems) < 3 {
				problems = append(problems, problem)
			}
		}
		if len(problems) > 0 {
			return f.damaged(errors.Join(problems...))
		}
		return nil
	})
}

// checkLengths refuses a page that goes on behind the end of the file.
func checkLengths(tx *bbolt.Tx) error {
	pages := int(tx.Size()) / tx.DB().Info().PageSize
	for id := 0; id < pages; id++ {
		page, err := tx.Page(id)
		switch {
		case err != nil:
			return err
		case page.Type == "free":
			continue
		}
		if page.OverflowCount >= pages-id {
			return fmt.Errorf("page %d goes on behind the end of the file", id)
		}
		id += page.OverflowCount
	}
	return nil
}
