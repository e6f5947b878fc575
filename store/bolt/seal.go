package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"reflect"
	"unsafe"

	"go.etcd.io/bbolt"
)

// Values have a checksum since version 5 of the layout:
//
//	sealMark 1 ‖ CRC-32C of bucket, key and value 4 ‖ value
//
// The checksum covers the key, so that a changed key is noticed too: a search for the key
// ends at the damaged entry, or next to it. In a file that version 4 began, values may have
// none: they begin with a byte less than plainMax, which no single flipped bit makes of
// sealMark.
const (
	sealMark = 0xC5
	sealSize = 1 + 4
	plainMax = 0x40
)

// keyPlain is in a file that version 4 began.
var keyPlain = []byte("plain")

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
	errHidden     = errors.New("a page does not have all of its entries")
	errChecksum   = errors.New("an entry has another checksum")
)

// bare reports whether the values of a bucket have no checksum: this program does not write
// to it, but for the version and the probe.
func bare(bucket []byte) bool { return isOneOf(bucket, bucketMeta, bucketFingerprints) }

// sinceSeals reports whether all values of a bucket have a checksum.
func sinceSeals(bucket []byte) bool {
	return isOneOf(bucket, bucketRequests, bucketWaited, bucketListing, bucketOutbox)
}

func isOneOf(bucket []byte, names ...[]byte) bool {
	for _, name := range names {
		if bytes.Equal(bucket, name) {
			return true
		}
	}
	return false
}

// opened returns the value of an entry as it was put. It panics if the entry is damaged.
func (t *transaction) opened(bucket, key, raw []byte) []byte {
	switch {
	case raw == nil, int64(len(raw)) > t.tx.Size(): // bbolt returns nil for a bucket
		panic(errOutOfOrder)
	case bare(bucket):
		return raw
	case len(raw) >= sealSize && raw[0] == sealMark:
		if binary.BigEndian.Uint32(raw[1:]) != checksum(bucket, key, raw[sealSize:]) {
			panic(errChecksum)
		}
		return raw[sealSize:]
	case !t.plain, sinceSeals(bucket), len(raw) > 0 && raw[0] >= plainMax, len(raw) == 0 && !isOneOf(bucket, bucketWaiting, bucketExpiry):
		panic(errChecksum)
	}
	return raw
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
	if low != nil && !t.tx.Writable() && t.tx.Bucket(bucket).Root() != 0 && hides(low, lowValue, high, t.tx.DB().Info().PageSize) {
		panic(errHidden)
	}
}

// hides reports whether a page has something between an entry and the next one: its header
// then says that it has fewer entries than it has. Entries are written one after the other,
// and zeros after the last one of a page. The entries are in the memory of the mapped file:
// those of a bucket within another page, and those of a transaction that writes, are not.
func hides(low, lowValue, high []byte, pageSize int) bool {
	last := lowValue
	if len(last) == 0 {
		last = low
	}
	end := unsafe.Add(unsafe.Pointer(unsafe.SliceData(last)), len(last))
	if high != nil && unsafe.Pointer(unsafe.SliceData(high)) == end {
		return false
	}
	page := uintptr(min(pageSize, os.Getpagesize()))
	return uintptr(end)%page != 0 && *(*byte)(end) != 0
}

// placed panics if the entry that a cursor is at is not where it belongs on its page: entries are
// written one after the other, behind the page's list of them. A damaged position would lead to
// another page, which may have an entry of the bucket as it was once. bbolt has the page in the top
// of the cursor's stack, and none of it if the transaction changes a copy of the page.
func placed(cursor *bbolt.Cursor) {
	stack := reflect.ValueOf(cursor).Elem().FieldByIndex(cursorStack.Index)
	if stack.Len() == 0 {
		return
	}
	top := stack.Index(stack.Len() - 1)
	page, index := top.FieldByIndex(elementPage.Index).UnsafePointer(), uintptr(top.FieldByIndex(elementIndex.Index).Int())
	if page == nil {
		return
	}
	list := uintptr(pageHeader)
	element := func(i uintptr) [4]uint32 { return *(*[4]uint32)(unsafe.Add(page, list+leafElement*i)) } // flags, position, lengths
	want := list + leafElement*uintptr(*(*uint16)(unsafe.Add(page, pageCount)))
	if index > 0 {
		before := element(index - 1)
		want = list + leafElement*(index-1) + uintptr(before[1]) + uintptr(before[2]) + uintptr(before[3])
	}
	if list+leafElement*index+uintptr(element(index)[1]) != want {
		panic(errHidden)
	}
}

// Of a page, in bytes: see pages.go.
const (
	pageCount   = 10
	leafElement = 16
)

// The members of bbolt's cursors that placed reads.
var (
	cursorStack, _  = reflect.TypeFor[bbolt.Cursor]().FieldByName("stack")
	elementPage, _  = cursorStack.Type.Elem().FieldByName("page")
	elementIndex, _ = cursorStack.Type.Elem().FieldByName("index")
)

// get returns the value of a key, or nil if there is none. The entries before and after it
// prove that there is none: a damaged page leads to another part of the bucket.
func (t *transaction) get(bucket, key []byte) []byte {
	cursor := t.tx.Bucket(bucket).Cursor()
	foundKey, value := cursor.Seek(key)
	if foundKey != nil {
		placed(cursor)
	}
	if foundKey != nil && bytes.Equal(foundKey, key) {
		return t.opened(bucket, foundKey, value)
	}
	step := cursor.Prev
	if foundKey == nil {
		step = cursor.Last
	}
	before, valueBefore := step()
	if before != nil {
		placed(cursor)
	}
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
	if key != nil {
		placed(w.cursor)
	}
	w.key, w.raw = nil, nil
	if bytes.HasPrefix(key, w.prefix) && key != nil {
		w.key, w.raw = key, raw
	}
}

// rest returns the current key without the prefix.
func (w *walk) rest() []byte { return w.key[len(w.prefix):] }

// value returns the current value.
func (w *walk) value() []byte { return w.tx.opened(w.bucket, w.key, w.raw) }
