package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// Every value has a checksum, but for the version and the probe in bucketMeta:
//
//	sealMark 1 ‖ CRC-32C of bucket, key and value 4 ‖ value
//
// The checksum covers the key, so that a changed key is noticed too: a search for the key
// ends at the damaged entry, or next to it.
const (
	sealMark = 0xC5
	sealSize = 1 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(bucket, key, value []byte) uint32 {
	sum := crc32.Update(crc32.Checksum(bucket, castagnoli), castagnoli, key)
	return crc32.Update(sum, castagnoli, value)
}

func seal(bucket, key, value []byte) []byte {
	out := append(make([]byte, 0, sealSize+len(value)), sealMark)
	out = binary.BigEndian.AppendUint32(out, checksum(bucket, key, value))
	return append(out, value...)
}

// Reasons to panic while reading, which file.guard makes the error of a damaged file.
var (
	errOutOfOrder = errors.New("a bucket is not sorted")
	errCount      = errors.New("a bucket has another number of entries than were written")
	errChecksum   = errors.New("an entry has another checksum")
)

// unseal returns the value of an entry as it was put. It panics if the entry is damaged.
func unseal(bucket, key, raw []byte) []byte {
	switch {
	case raw == nil: // bbolt returns nil for a bucket
		panic(errOutOfOrder)
	case len(raw) < sealSize || raw[0] != sealMark ||
		binary.BigEndian.Uint32(raw[1:]) != checksum(bucket, key, raw[sealSize:]):
		panic(errChecksum)
	}
	return raw[sealSize:]
}

// opened is unseal, but for bucketMeta, of which only the counts are sealed.
func (t *transaction) opened(bucket, key, raw []byte) []byte {
	switch {
	case int64(len(raw)) > t.tx.Size():
		panic(errOutOfOrder)
	case raw != nil && bytes.Equal(bucket, bucketMeta):
		return raw
	}
	return unseal(bucket, key, raw)
}

// neighbors panics unless two entries can follow each other in a bucket. One of them is nil at
// an end of the bucket.
func (t *transaction) neighbors(bucket, low, lowValue, high, highValue []byte) {
	if low != nil {
		t.opened(bucket, low, lowValue)
	}
	if high != nil {
		t.opened(bucket, high, highValue)
	}
	if low != nil && high != nil && bytes.Compare(low, high) >= 0 {
		panic(errOutOfOrder)
	}
}

// get returns the value of a key, or nil if there is none. The entries before and after it
// must fit then: a damaged page leads to another part of the bucket. What that cannot notice
// is said in docs/security.md#damage-that-can-go-unnoticed.
func (t *transaction) get(bucket, key []byte) []byte {
	cursor := t.tx.Bucket(bucket).Cursor()
	foundKey, value := cursor.Seek(key)
	if foundKey != nil && bytes.Equal(foundKey, key) {
		return t.opened(bucket, foundKey, value)
	}
	step := cursor.Prev
	if foundKey == nil {
		step = cursor.Last
	}
	before, valueBefore := step()
	if foundKey != nil && bytes.Compare(foundKey, key) < 0 || before != nil && bytes.Compare(before, key) >= 0 {
		panic(errOutOfOrder)
	}
	t.neighbors(bucket, before, valueBefore, foundKey, value)
	return nil
}

// walk goes through the entries of a bucket whose keys have a prefix.
type walk struct {
	tx             *transaction
	bucket, prefix []byte
	cursor         *bbolt.Cursor
	back           bool
	key, raw       []byte // of the current entry; the key is nil at the end
}

// walk starts at a key, or, backwards, before it.
func (t *transaction) walk(bucket, prefix, from []byte, back bool) *walk {
	t.get(bucket, from) // proves that nothing is left out before it
	w := &walk{tx: t, bucket: bucket, prefix: prefix, cursor: t.tx.Bucket(bucket).Cursor(), back: back}
	key, raw := w.cursor.Seek(from)
	if back {
		step := w.cursor.Prev
		if key == nil {
			step = w.cursor.Last
		}
		key, raw = step()
	}
	w.at(key, raw)
	return w
}

// next goes to the next entry.
func (w *walk) next() {
	if w.back {
		key, raw := w.cursor.Prev()
		w.tx.neighbors(w.bucket, key, raw, w.key, w.raw)
		w.at(key, raw)
		return
	}
	key, raw := w.cursor.Next()
	w.tx.neighbors(w.bucket, w.key, w.raw, key, raw)
	w.at(key, raw)
}

func (w *walk) at(key, raw []byte) {
	w.key, w.raw = nil, nil
	if bytes.HasPrefix(key, w.prefix) && key != nil {
		w.key, w.raw = key, raw
	}
}

// rest returns the current key without the prefix.
func (w *walk) rest() []byte { return w.key[len(w.prefix):] }

func (w *walk) value() []byte { return w.tx.opened(w.bucket, w.key, w.raw) }
