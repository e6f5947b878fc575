package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The file is pages, in the byte order of the machine. The first two are the meta pages,
// of which the newer one with a correct checksum counts. No other page has a checksum.
//
//	page     id 8 ‖ flags 2 ‖ count 2 ‖ overflow 4 ‖ elements
//	meta     magic 4 ‖ version 4 ‖ page size 4 ‖ flags 4 ‖ root 8 ‖ sequence 8 ‖ freelist 8 ‖
//	         high-water mark 8 ‖ transaction 8 ‖ FNV-1a of the bytes before 8
//	branch   position 4 of the key, from here ‖ length 4 of the key ‖ page 8
//	leaf     flags 4 ‖ position 4 of the key, from here ‖ lengths 4 and 4 of key and value
//	bucket   (value of a leaf with flag 1) root 8, or 0 if it is in the value ‖ sequence 8
const (
	pageHeader = 16
	metaSize   = 64
	metaMagic  = 0xED0CDAED
	minPage    = 512
	maxPage    = 64 << 10
	flagBranch = 1
	flagLeaf   = 2
	flagFree   = 16
	flagBucket = 1 // of an element of a leaf
)

// meta is what a meta page says.
type meta struct{ pageSize, root, freelist, end, transaction uint64 }

// readMeta returns the newer of the meta pages. It reads the file where bbolt would map it.
func readMeta(file io.ReaderAt) (newest meta, found bool) {
	for size := int64(0); size <= maxPage; size = max(2*size, minPage) {
		var page [pageHeader + metaSize]byte
		if _, err := file.ReadAt(page[:], size); err != nil {
			break
		}
		parsed, ok := parseMeta(page[pageHeader:])
		if ok && (size == 0 || parsed.pageSize == uint64(size)) && (!found || parsed.transaction > newest.transaction) {
			newest, found = parsed, true
		}
	}
	return newest, found
}

func parseMeta(in []byte) (m meta, ok bool) {
	sum := fnv.New64a()
	_, _ = sum.Write(in[:metaSize-8])
	m = meta{
		pageSize: uint64(binary.NativeEndian.Uint32(in[8:])), root: binary.NativeEndian.Uint64(in[16:]),
		freelist: binary.NativeEndian.Uint64(in[32:]), end: binary.NativeEndian.Uint64(in[40:]), transaction: binary.NativeEndian.Uint64(in[48:]),
	}
	size := m.pageSize >= minPage && m.pageSize <= maxPage && m.pageSize&(m.pageSize-1) == 0
	return m, size && binary.NativeEndian.Uint32(in) == metaMagic && binary.NativeEndian.Uint64(in[metaSize-8:]) == sum.Sum64()
}

// checkSize refuses a file that is shorter than its meta page says: bbolt maps it, and
// reading behind the end of the file is a fault. A file that does not exist, or is empty,
// passes.
func checkSize(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return nil // bbolt says why
	}
	defer func() { _ = file.Close() }()
	newest, found := readMeta(file) // before the size: a process that has the file open may extend it
	info, err := file.Stat()
	switch {
	case err != nil || info.Size() == 0:
		return nil
	case !found:
		return errors.New("it is no bolt file, or both of its meta pages are damaged")
	case newest.end > uint64(info.Size())/newest.pageSize:
		return fmt.Errorf("it is cut off: it has %d bytes of %d", info.Size(), newest.end*newest.pageSize)
	}
	return nil
}

// checker follows the branch pages of a file, which are about a hundredth of it.
type checker struct {
	file *os.File
	meta
	used []bool // by page: it is free, or a page refers to it
}

// checkPages refuses a file in which a branch page or the list of free pages is damaged:
// records would not be found, or be overwritten. It does not read the leaves, which have
// no checksum either.
func checkPages(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	newest, _ := readMeta(file)
	c := &checker{file: file, meta: newest, used: make([]bool, newest.end)}
	if err := c.free(); err != nil {
		return err
	}
	leaves, err := c.tree(c.root)
	if err != nil {
		return err
	}
	for _, leaf := range leaves {
		if err := c.buckets(leaf); err != nil {
			return err
		}
	}
	return nil
}

// use marks a page that something refers to.
func (c *checker) use(id uint64) error {
	switch {
	case id < 2 || id >= c.end:
		return fmt.Errorf("a page refers to page %d of %d", id, c.end)
	case c.used[id]:
		return fmt.Errorf("page %d is in use twice, or free", id)
	}
	c.used[id] = true
	return nil
}

// kind returns the flags of a page, and its length with the pages that continue it.
func (c *checker) kind(id uint64) (flags uint16, length uint64, err error) {
	var header [pageHeader]byte
	if _, err := c.file.ReadAt(header[:], int64(id*c.pageSize)); err != nil {
		return 0, 0, err
	}
	more := uint64(binary.NativeEndian.Uint32(header[12:]))
	if binary.NativeEndian.Uint64(header[:]) != id || id+more >= c.end {
		return 0, 0, fmt.Errorf("page %d is not what it should be", id)
	}
	return binary.NativeEndian.Uint16(header[8:]), (1 + more) * c.pageSize, nil
}

// page reads a page of a kind.
func (c *checker) page(id uint64, kind uint16) ([]byte, error) {
	flags, length, err := c.kind(id)
	if err != nil {
		return nil, err
	}
	if flags != kind {
		return nil, fmt.Errorf("page %d has flags %x, want %x", id, flags, kind)
	}
	page := make([]byte, length)
	_, err = c.file.ReadAt(page, int64(id*c.pageSize))
	return page, err
}

// free reads the list of free pages, which is sorted.
func (c *checker) free() error {
	if err := c.use(c.freelist); err != nil {
		return err
	}
	page, err := c.page(c.freelist, flagFree)
	if err != nil {
		return err
	}
	count, ids := uint64(binary.NativeEndian.Uint16(page[10:])), page[pageHeader:]
	if count == 0xffff {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return fmt.Errorf("the list of free pages has %d entries", count)
	}
	last := uint64(0)
	for i := range count {
		id := binary.NativeEndian.Uint64(ids[8*i:])
		if id <= last {
			return errors.New("the list of free pages is not sorted")
		}
		if err := c.use(id); err != nil {
			return err
		}
		last = id
	}
	return nil
}

// child is a page of a tree. Its keys are from low up to, and without, high, if that is
// not nil.
type child struct {
	id        uint64
	low, high []byte
}

// tree follows a tree, whose leaves are all at the same depth, and returns their pages.
func (c *checker) tree(root uint64) (leaves []uint64, err error) {
	level := []child{{id: root}}
	if err := c.use(root); err != nil {
		return nil, err
	}
	for {
		flags, err := c.kindOf(level)
		if err != nil {
			return nil, err
		}
		if flags == flagLeaf {
			for _, child := range level {
				leaves = append(leaves, child.id)
			}
			return leaves, nil
		}
		var next []child
		for _, child := range level {
			children, err := c.branch(child)
			if err != nil {
				return nil, err
			}
			next = append(next, children...)
		}
		level = next
	}
}

// kindOf returns the flags of the pages of a level. It reads the first and the last: if one
// of them leads to another level, they differ.
func (c *checker) kindOf(level []child) (flags uint16, err error) {
	first, last := level[0].id, level[len(level)-1].id
	flags, _, err = c.kind(first)
	if err != nil {
		return 0, err
	}
	other, _, err := c.kind(last)
	if err == nil && other != flags {
		err = fmt.Errorf("pages %d and %d are not of one kind", first, last)
	}
	return flags, err
}

// branch returns the children of a branch page.
func (c *checker) branch(parent child) (children []child, err error) {
	page, err := c.page(parent.id, flagBranch)
	if err != nil {
		return nil, err
	}
	least, count := parent.low, int(binary.NativeEndian.Uint16(page[10:]))
	for i := range count {
		key, element, err := c.key(page, i, 0)
		if err != nil {
			return nil, err
		}
		if i == 0 && int(binary.NativeEndian.Uint32(element)) != elementSize*count { // the keys follow the elements
			return nil, fmt.Errorf("page %d does not have its %d elements", parent.id, count)
		}
		if order := bytes.Compare(key, least); order < 0 || order == 0 && i > 0 || parent.high != nil && bytes.Compare(key, parent.high) >= 0 {
			return nil, fmt.Errorf("page %d is not sorted", parent.id)
		}
		if i > 0 {
			children[i-1].high = key
		}
		id := binary.NativeEndian.Uint64(element[8:])
		if err := c.use(id); err != nil {
			return nil, err
		}
		children = append(children, child{id: id, low: key, high: parent.high})
		least = key
	}
	if len(children) == 0 {
		return nil, fmt.Errorf("page %d is empty", parent.id)
	}
	return children, nil
}

// elementSize is the length of an element of a branch or a leaf page.
const elementSize = 16

// key returns the key of an element, whose position is at an offset in the element.
func (c *checker) key(page []byte, i, offset int) (key, element []byte, err error) {
	at := pageHeader + elementSize*i
	if at+elementSize > len(page) {
		return nil, nil, errors.New("a page has more elements than fit")
	}
	element = page[at:]
	start, length := uint64(binary.NativeEndian.Uint32(element[offset:])), uint64(binary.NativeEndian.Uint32(element[offset+4:]))
	if start+length > uint64(len(element)) {
		return nil, nil, errors.New("a key is not in its page")
	}
	return element[start : start+length], element, nil
}

// buckets follows the buckets in a leaf.
func (c *checker) buckets(leaf uint64) error {
	page, err := c.page(leaf, flagLeaf)
	if err != nil {
		return err
	}
	for i := range int(binary.NativeEndian.Uint16(page[10:])) {
		key, element, err := c.key(page, i, 4)
		if err != nil {
			return err
		}
		value := page[len(page)-len(element)+int(binary.NativeEndian.Uint32(element[4:]))+len(key):]
		if binary.NativeEndian.Uint32(element) != flagBucket || len(value) < 16 {
			return fmt.Errorf("%q is no bucket", key)
		}
		if root := binary.NativeEndian.Uint64(value); root != 0 {
			if _, err := c.tree(root); err != nil {
				return fmt.Errorf("bucket %q: %w", key, err)
			}
		}
	}
	return nil
}
