package psbt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// The checks of key data and values: each returns what is wrong.

func anything([]byte) error { return nil }

func noData(data []byte) error {
	if len(data) != 0 {
		return fmt.Errorf("%d bytes behind the type, want none", len(data))
	}
	return nil
}

func sized(want int) func([]byte) error {
	return func(b []byte) error {
		if len(b) != want {
			return fmt.Errorf("%d bytes, want %d", len(b), want)
		}
		return nil
	}
}

func between(least, most int) func([]byte) error {
	return func(b []byte) error {
		if len(b) < least || len(b) > most {
			return fmt.Errorf("%d bytes, want %d to %d", len(b), least, most)
		}
		return nil
	}
}

// pubKey checks a public key: 33 bytes compressed, or 65 uncompressed as in old scripts.
func pubKey(b []byte) error {
	if len(b) == 65 && b[0] == 4 {
		return nil
	}
	return compressedKey(b)
}

func compressedKey(b []byte) error {
	if len(b) != 33 {
		return fmt.Errorf("public key of %d bytes, want 33", len(b))
	}
	if b[0] != 2 && b[0] != 3 {
		return fmt.Errorf("public key begins with %02x, want 02 or 03", b[0])
	}
	return nil
}

// derivation checks a key origin: fingerprint of the master key (4) ‖ path (4 each, little-endian).
func derivation(b []byte) error {
	if len(b) < 4 || len(b)%4 != 0 {
		return fmt.Errorf("key origin of %d bytes, want 4 for the fingerprint and 4 for each step of the path", len(b))
	}
	return nil
}

// tapDerivation checks <number of leaf hashes> ‖ leaf hashes (32 each) ‖ derivation.
func tapDerivation(b []byte) error {
	origin, err := TapOrigin(b)
	if err != nil {
		return err
	}
	return derivation(origin)
}

// TapOrigin returns the key origin, fingerprint and path, of such a value. It cannot fail for one
// that Read has checked.
func TapOrigin(b []byte) ([]byte, error) {
	c := cursor{data: b}
	count := c.compactSize()
	if count > uint64(c.remaining())/32 {
		c.fail(0, "%d leaf hashes announced, %d bytes follow", count, c.remaining())
	}
	c.take(32 * count)
	return c.data[c.at:], c.err
}

// participant checks participant key (33) ‖ aggregate key (33) ‖ leaf hash (32), the
// last only if the key is in a leaf.
func participant(b []byte) error {
	if len(b) != 66 && len(b) != 98 {
		return fmt.Errorf("%d bytes, want 66, or 98 with a leaf hash", len(b))
	}
	if err := compressedKey(b[:33]); err != nil {
		return fmt.Errorf("participant's %w", err)
	}
	if err := compressedKey(b[33:66]); err != nil {
		return fmt.Errorf("aggregate %w", err)
	}
	return nil
}

func participants(b []byte) error {
	if len(b) == 0 || len(b)%33 != 0 {
		return fmt.Errorf("participant keys of %d bytes in all, want 33 each", len(b))
	}
	for ; len(b) > 0; b = b[33:] {
		if err := compressedKey(b[:33]); err != nil {
			return fmt.Errorf("participant's %w", err)
		}
	}
	return nil
}

// txOut checks amount (8, little-endian) ‖ <length> ‖ script.
func txOut(b []byte) error {
	_, _, err := ReadTxOut(b)
	return err
}

func witness(b []byte) error {
	_, err := ReadWitness(b)
	return err
}

func compactSize(b []byte) error {
	c := cursor{data: b}
	c.compactSize()
	return c.end()
}

// proprietary checks <length> ‖ identifier ‖ <subtype> ‖ anything.
func proprietary(b []byte) error {
	c := cursor{data: b}
	if c.sized(); c.err != nil {
		return fmt.Errorf("identifier: %w", c.err)
	}
	if c.compactSize(); c.err != nil {
		return fmt.Errorf("subtype: %w", c.err)
	}
	return nil
}

// controlBlock checks leaf version and parity (1) ‖ internal key (32) ‖ merkle path (32
// each, at most 128).
func controlBlock(b []byte) error {
	if len(b) < 33 || (len(b)-33)%32 != 0 || len(b) > 33+32*128 {
		return fmt.Errorf("control block of %d bytes, want 33 and up to 128 times 32", len(b))
	}
	return nil
}

// leafScript checks script ‖ leaf version (1).
func leafScript(b []byte) error {
	if len(b) == 0 {
		return errors.New("empty, want a script and its leaf version")
	}
	return nil
}

// tapTree checks (depth (1) ‖ leaf version (1) ‖ <length> ‖ script)…, depth first. The
// leaves must form one whole tree.
func tapTree(b []byte) error {
	c := cursor{data: b}
	var open []byte // depths of the subtrees whose sibling is missing
	for c.remaining() > 0 {
		head := c.take(2)
		if c.err != nil {
			return c.err
		}
		if head[0] > 128 || head[1]&1 != 0 {
			return fmt.Errorf("leaf at depth %d of version %02x: a depth is at most 128, a version even", head[0],
				head[1])
		}
		if c.sized(); c.err != nil {
			return c.err
		}
		if n := len(open); n > 0 && (open[n-1] > head[0] || open[n-1] == 0) {
			return errors.New("leaves are not in depth-first order")
		}
		open = append(open, head[0])
		for n := len(open); n > 1 && open[n-1] == open[n-2]; n = len(open) {
			open = open[:n-1]
			open[n-2]--
		}
	}
	if len(open) != 1 || open[0] != 0 {
		return errors.New("leaves do not make up a whole tree")
	}
	return nil
}

// TapLeaves yields the leaf scripts of a PSBT_OUT_TAP_TREE, whose form Read has checked.
func TapLeaves(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for c := (cursor{data: b}); c.remaining() > 0; {
			c.take(2) // depth and version
			if script := c.sized(); c.err != nil || !yield(script) {
				return
			}
		}
	}
}

// locktimeThreshold separates block heights, which are below it, from Unix times.
const locktimeThreshold = 500_000_000

func timeLocktime(b []byte) error {
	if err := sized(4)(b); err != nil {
		return err
	}
	if time := binary.LittleEndian.Uint32(b); time < locktimeThreshold {
		return fmt.Errorf("time %d is below %d", time, locktimeThreshold)
	}
	return nil
}

func heightLocktime(b []byte) error {
	if err := sized(4)(b); err != nil {
		return err
	}
	if height := binary.LittleEndian.Uint32(b); height == 0 || height >= locktimeThreshold {
		return fmt.Errorf("height %d is not between 1 and %d", height, locktimeThreshold-1)
	}
	return nil
}
