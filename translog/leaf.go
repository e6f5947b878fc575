package translog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// leafSchema is the beginning of an encoded leaf.
const leafSchema = "countersign.leaf/1"

// maxName bounds the organization and the id of a leaf, in bytes.
const maxName = 1024

// Leaf is one entry of a log.
type Leaf struct {
	Organization string
	ID           string            // of the activity; otherwise the kind of leaf and the time
	Fingerprint  [sha256.Size]byte // of the request's body; zero if the leaf is not of an activity
	Record       [sha256.Size]byte // SHA-256 of the stored record
}

// NewLeaf returns the leaf of a record.
func NewLeaf(organization, id string, fingerprint [sha256.Size]byte, record []byte) Leaf {
	return Leaf{organization, id, fingerprint, sha256.Sum256(record)}
}

// policyID is the beginning of the id of a policy's leaf.
const policyID = "policy/"

// NewPolicyLeaf returns the leaf of a policy, given by its SHA-256, that is in force from a time on.
func NewPolicyLeaf(organization string, digest [sha256.Size]byte, from time.Time) Leaf {
	return Leaf{Organization: organization, ID: policyID + from.UTC().Format(time.RFC3339Nano), Record: digest}
}

// IsPolicy reports whether the leaf is of a policy, not of an activity.
func (l *Leaf) IsPolicy() bool { return strings.HasPrefix(l.ID, policyID) }

// walletID is the beginning of the id of a leaf about a registered wallet.
const walletID = "wallet/"

// Actions on registered wallets.
const (
	WalletRegistered = "register"
	WalletReplaced   = "replace"
	WalletRemoved    = "remove"
)

// NewWalletLeaf returns the leaf of an action on a registered wallet, given by its name and the
// SHA-256 of its policy: the new one, or the one that is removed.
func NewWalletLeaf(organization, action, name string, digest [sha256.Size]byte, at time.Time) Leaf {
	id := walletID + action + "/" + at.UTC().Format(time.RFC3339Nano) + "/" + name
	return Leaf{Organization: organization, ID: id, Record: digest}
}

// IsWallet reports whether the leaf is of a registered wallet, not of an activity.
func (l *Leaf) IsWallet() bool { return strings.HasPrefix(l.ID, walletID) }

// IsAccept reports whether the leaf is of an accepted conflict, not of an activity.
func (l *Leaf) IsAccept() bool { return strings.HasPrefix(l.ID, acceptID) }

// Encode returns the only encoding of the leaf:
//
//	"countersign.leaf/1" ‖ length 2, organization ‖ length 2, id ‖ fingerprint 32 ‖ record 32
//
// with lengths in big-endian order. It returns an error if the organization or the id is
// longer than 1,024 bytes.
func (l *Leaf) Encode() ([]byte, error) {
	if len(l.Organization) > maxName || len(l.ID) > maxName {
		return nil, fmt.Errorf("translog: the organization has %d bytes and the id %d: a leaf has room for %d",
			len(l.Organization), len(l.ID), maxName)
	}
	out := make([]byte, 0, len(leafSchema)+4+len(l.Organization)+len(l.ID)+2*sha256.Size)
	out = append(out, leafSchema...)
	for _, name := range []string{l.Organization, l.ID} {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(name))), name...)
	}
	return append(append(out, l.Fingerprint[:]...), l.Record[:]...), nil
}

var errLeaf = errors.New("translog: not a leaf: expected countersign.leaf/1, two names and two hashes")

// ParseLeaf parses what [Leaf.Encode] returns, and nothing else.
func ParseLeaf(in []byte) (leaf Leaf, err error) {
	rest, ok := bytes.CutPrefix(in, []byte(leafSchema))
	if !ok {
		return leaf, errLeaf
	}
	for _, name := range []*string{&leaf.Organization, &leaf.ID} {
		if len(rest) < 2 {
			return Leaf{}, errLeaf
		}
		length := int(binary.BigEndian.Uint16(rest))
		if length > maxName || length > len(rest)-2 {
			return Leaf{}, errLeaf
		}
		*name, rest = string(rest[2:2+length]), rest[2+length:]
	}
	if len(rest) != 2*sha256.Size {
		return Leaf{}, errLeaf
	}
	copy(leaf.Fingerprint[:], rest)
	copy(leaf.Record[:], rest[sha256.Size:])
	return leaf, nil
}

// Row is what a store keeps for one leaf.
type Row struct {
	Leaf []byte

	// Hashes are the hashes of the nodes that the leaf completes, 32 bytes each: its
	// own, and those of the subtrees whose last leaf it is, smallest first.
	Hashes []byte
}

// Head is the size of a log and its right edge, which is all that appending needs, and
// what nodes have marked it with.
type Head struct {
	Size int64
	Edge []tlog.Hash // roots of the complete subtrees, largest first

	// Conflict is not nil while the log does not grow: see [Conflict].
	Conflict *Conflict

	// Accepted is not zero if an operator accepted a conflict. A request that was sent
	// no later, by its own time, may have been answered in the history that was lost: if
	// it is not recorded, it is not carried out.
	Accepted time.Time

	// Stops are what is not signed for the organization at the moment: see [Stop].
	Stops []Stop

	// Moved says that the organization has moved to another store, or is moving: nothing is
	// recorded here.
	Moved bool
}

// Marked reports whether the head has a mark.
func (h *Head) Marked() bool {
	return h.Conflict != nil || !h.Accepted.IsZero() || len(h.Stops) > 0 || h.Moved
}

// Append adds a leaf and returns its row.
func (h *Head) Append(leaf []byte) Row {
	hash := tlog.RecordHash(leaf)
	row := Row{Leaf: leaf, Hashes: append(make([]byte, 0, 2*len(hash)), hash[:]...)}
	edge := append(make([]tlog.Hash, 0, len(h.Edge)+1), h.Edge...)
	for n := h.Size; n&1 == 1; n >>= 1 {
		hash = tlog.NodeHash(edge[len(edge)-1], hash)
		edge = edge[:len(edge)-1]
		row.Hashes = append(row.Hashes, hash[:]...)
	}
	edge = append(edge, hash)
	h.Size, h.Edge = h.Size+1, edge
	return row
}

// Tree returns the size and the root.
func (h *Head) Tree() tlog.Tree {
	if h.Size == 0 {
		return tlog.Tree{Hash: sha256.Sum256(nil)}
	}
	root := h.Edge[len(h.Edge)-1]
	for i := len(h.Edge) - 2; i >= 0; i-- {
		root = tlog.NodeHash(h.Edge[i], root)
	}
	return tlog.Tree{N: h.Size, Hash: root}
}

// Encode returns the head in the form for a store:
//
//	size 8 ‖ the edge ‖ nothing, accepted 8, accepted 8 ‖ conflict 56, or
//	                    accepted 8 ‖ conflict 56, zeros if there is none ‖ stops as JSON
//
// with integers in big-endian order and times in milliseconds since the epoch. The first bit
// is set if the head has moved. A program that knows no such mark refuses a head that has one.
func (h *Head) Encode() []byte {
	if h.Moved {
		still := *h
		still.Moved = false
		out := still.Encode()
		out[0] |= movedBit
		return out
	}
	out := binary.BigEndian.AppendUint64(nil, uint64(h.Size))
	for _, hash := range h.Edge {
		out = append(out, hash[:]...)
	}
	if h.Marked() {
		out = binary.BigEndian.AppendUint64(out, milliseconds(h.Accepted))
	}
	if h.Conflict != nil { // remembered (size 8 ‖ root 32) ‖ seen 8 ‖ found 8
		out = binary.BigEndian.AppendUint64(out, uint64(h.Conflict.Remembered.N))
		out = append(out, h.Conflict.Remembered.Hash[:]...)
		out = binary.BigEndian.AppendUint64(out, milliseconds(h.Conflict.Seen))
		out = binary.BigEndian.AppendUint64(out, milliseconds(h.Conflict.Found))
	}
	if len(h.Stops) == 0 {
		return out
	}
	if h.Conflict == nil {
		out = append(out, noConflict[:]...)
	}
	return append(out, encodeStops(h.Stops)...)
}

// movedBit is set in the first byte of a head that has moved: no size has it.
const movedBit = 0x80

// ParseHead parses what [Head.Encode] returns. Empty input is an empty log.
func ParseHead(in []byte) (h Head, err error) {
	if len(in) == 0 {
		return h, nil
	}
	if in[0]&movedBit != 0 {
		in = bytes.Clone(in)
		in[0] &^= movedBit
		h, err = ParseHead(in)
		h.Moved = err == nil
		return h, err
	}
	if len(in) < 8 {
		return h, errHead
	}
	size := binary.BigEndian.Uint64(in)
	edge := 8 + len(tlog.Hash{})*bits.OnesCount64(size)
	if size > math.MaxInt64 || len(in) < edge {
		return Head{}, errHead
	}
	h.Size = int64(size)
	for rest := in[8:edge]; len(rest) > 0; rest = rest[len(tlog.Hash{}):] {
		h.Edge = append(h.Edge, tlog.Hash(rest[:len(tlog.Hash{})]))
	}
	if err := h.parseMarks(in[edge:]); err != nil {
		return Head{}, err
	}
	return h, nil
}

// parseMarks parses what follows the edge.
func (h *Head) parseMarks(in []byte) (err error) {
	if len(in) == 0 {
		return nil
	}
	if len(in) != 8 && len(in) < 8+conflictSize {
		return errHead
	}
	if h.Accepted, err = parseTime(in); err != nil {
		return err
	}
	if len(in) > 8+conflictSize {
		if h.Stops, err = parseStops(in[8+conflictSize:]); err != nil {
			return err
		}
	}
	if len(in) > 8 && (len(h.Stops) == 0 || !bytes.HasPrefix(in[8:], noConflict[:])) {
		in = in[8 : 8+conflictSize]
		size := binary.BigEndian.Uint64(in)
		seen, seenErr := parseTime(in[conflictSize-16:])
		found, foundErr := parseTime(in[conflictSize-8:])
		if size > math.MaxInt64 || seenErr != nil || foundErr != nil {
			return errHead
		}
		tree := tlog.Tree{N: int64(size), Hash: tlog.Hash(in[8 : 8+tlog.HashSize])}
		h.Conflict = &Conflict{tree, seen, found}
		return nil
	}
	if !h.Marked() {
		return errHead // another encoding of a head without marks
	}
	return nil
}

// noConflict is in the place of a conflict before stops.
var noConflict [conflictSize]byte

var errHead = errors.New("translog: the head of the log is damaged: expected a size, one hash for each of its " +
	"subtrees, and at most an acceptance, a conflict and stops")
