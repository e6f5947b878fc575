package psbt

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// The checks of key data and values: each returns what is wrong, or empty.

func anything([]byte) string { return "" }

func noData(data []byte) string {
	if len(data) != 0 {
		return fmt.Sprintf("%d bytes behind the type, want none", len(data))
	}
	return ""
}

func sized(want int) func([]byte) string {
	return func(b []byte) string {
		if len(b) != want {
			return fmt.Sprintf("%d bytes, want %d", len(b), want)
		}
		return ""
	}
}

func between(least, most int) func([]byte) string {
	return func(b []byte) string {
		if len(b) < least || len(b) > most {
			return fmt.Sprintf("%d bytes, want %d to %d", len(b), least, most)
		}
		return ""
	}
}

// pubKey checks a public key: 33 bytes compressed, or 65 uncompressed as in old
// scripts.
func pubKey(b []byte) string {
	if len(b) == 65 && b[0] == 4 {
		return ""
	}
	return compressedKey(b)
}

func compressedKey(b []byte) string {
	if len(b) != 33 {
		return fmt.Sprintf("public key of %d bytes, want 33", len(b))
	}
	if b[0] != 2 && b[0] != 3 {
		return fmt.Sprintf("public key begins with %02x, want 02 or 03", b[0])
	}
	return ""
}

// derivation checks a key origin: fingerprint of the master key (4) ‖ path (4 each,
// little-endian).
func derivation(b []byte) string {
	if len(b) < 4 || len(b)%4 != 0 {
		return fmt.Sprintf("key origin of %d bytes, want 4 for the fingerprint and 4 for each step of the path", len(b))
	}
	return ""
}

// tapDerivation checks <number of leaf hashes> ‖ leaf hashes (32 each) ‖ derivation.
func tapDerivation(b []byte) string {
	origin, err := tapOrigin(b)
	if err != nil {
		return err.Error()
	}
	return derivation(origin)
}

// TapOrigin returns the key origin, fingerprint and path, of a value that tapDerivation
// has checked.
func TapOrigin(value []byte) []byte {
	origin, _ := tapOrigin(value)
	return origin
}

func tapOrigin(b []byte) ([]byte, error) {
	c := cursor{data: b}
	count, err := c.compactSize()
	if err != nil {
		return nil, err
	}
	if count > uint64(c.remaining())/32 {
		return nil, fmt.Errorf("%d leaf hashes announced, %d bytes follow", count, c.remaining())
	}
	return b[c.at+int(count)*32:], nil
}

// participant checks participant key (33) ‖ aggregate key (33) ‖ leaf hash (32), the
// last only if the key is in a leaf.
func participant(b []byte) string {
	if len(b) != 66 && len(b) != 98 {
		return fmt.Sprintf("%d bytes, want 66, or 98 with a leaf hash", len(b))
	}
	if problem := compressedKey(b[:33]); problem != "" {
		return "participant's " + problem
	}
	if problem := compressedKey(b[33:66]); problem != "" {
		return "aggregate " + problem
	}
	return ""
}

func participants(b []byte) string {
	if len(b) == 0 || len(b)%33 != 0 {
		return fmt.Sprintf("participant keys of %d bytes in all, want 33 each", len(b))
	}
	for ; len(b) > 0; b = b[33:] {
		if problem := compressedKey(b[:33]); problem != "" {
			return "participant's " + problem
		}
	}
	return ""
}

// txOut checks amount (8, little-endian) ‖ <length> ‖ script.
func txOut(b []byte) string {
	_, _, err := ReadTxOut(b)
	return problem(err)
}

func witness(b []byte) string {
	_, err := ReadWitness(b)
	return problem(err)
}

func compactSize(b []byte) string {
	c := cursor{data: b}
	if _, err := c.compactSize(); err != nil {
		return err.Error()
	}
	return problem(c.end())
}

// proprietary checks <length> ‖ identifier ‖ <subtype> ‖ anything.
func proprietary(b []byte) string {
	c := cursor{data: b}
	if _, err := c.sized(); err != nil {
		return "identifier: " + err.Error()
	}
	if _, err := c.compactSize(); err != nil {
		return "subtype: " + err.Error()
	}
	return ""
}

// controlBlock checks leaf version and parity (1) ‖ internal key (32) ‖ merkle path (32
// each, at most 128).
func controlBlock(b []byte) string {
	if len(b) < 33 || (len(b)-33)%32 != 0 || len(b) > 33+32*128 {
		return fmt.Sprintf("control block of %d bytes, want 33 and up to 128 times 32", len(b))
	}
	return ""
}

// leafScript checks script ‖ leaf version (1).
func leafScript(b []byte) string {
	if len(b) == 0 {
		return "empty, want a script and its leaf version"
	}
	return ""
}

// tapTree checks (depth (1) ‖ leaf version (1) ‖ <length> ‖ script)…, depth first. The
// leaves must form one whole tree.
func tapTree(b []byte) string {
	c := cursor{data: b}
	var open []byte // depths of the subtrees whose sibling is missing
	for c.remaining() > 0 {
		head, err := c.take(2)
		if err != nil {
			return err.Error()
		}
		if head[0] > 128 || head[1]&1 != 0 {
			return fmt.Sprintf("leaf at depth %d of version %02x: a depth is at most 128, a version even", head[0],
				head[1])
		}
		if _, err := c.sized(); err != nil {
			return err.Error()
		}
		var ok bool
		if open, ok = addLeaf(open, head[0]); !ok {
			return "leaves are not in depth-first order"
		}
	}
	if len(open) != 1 || open[0] != 0 {
		return "leaves do not make up a whole tree"
	}
	return ""
}

// TapLeaves yields the leaf scripts of a PSBT_OUT_TAP_TREE, whose form Read has checked.
func TapLeaves(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for c := (cursor{data: b}); c.remaining() > 0; {
			_, err := c.take(2) // depth and version
			script, err2 := c.sized()
			if err != nil || err2 != nil || !yield(script) {
				return
			}
		}
	}
}

func addLeaf(open []byte, depth byte) ([]byte, bool) {
	if n := len(open); n > 0 && (open[n-1] > depth || open[n-1] == 0) {
		return nil, false
	}
	open = append(open, depth)
	for n := len(open); n > 1 && open[n-1] == open[n-2]; n = len(open) {
		open = open[:n-1]
		open[n-2]--
	}
	return open, true
}

// locktimeThreshold separates block heights, which are below it, from Unix times.
const locktimeThreshold = 500_000_000

func timeLocktime(b []byte) string {
	if problem := sized(4)(b); problem != "" {
		return problem
	}
	if time := binary.LittleEndian.Uint32(b); time < locktimeThreshold {
		return fmt.Sprintf("time %d is below %d", time, locktimeThreshold)
	}
	return ""
}

func heightLocktime(b []byte) string {
	if problem := sized(4)(b); problem != "" {
		return problem
	}
	if height := binary.LittleEndian.Uint32(b); height == 0 || height >= locktimeThreshold {
		return fmt.Sprintf("height %d is not between 1 and %d", height, locktimeThreshold-1)
	}
	return ""
}

func problem(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}
