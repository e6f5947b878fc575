package postgres

import (
	"crypto/sha256"
	"fmt"
)

// hash scans a column of exactly 32 bytes.
type hash [sha256.Size]byte

// ScanBytes implements pgtype.BytesScanner.
func (h *hash) ScanBytes(column []byte) error {
	if len(column) != len(h) {
		return fmt.Errorf("damaged: it has %d bytes; a hash has %d", len(column), len(h))
	}
	copy(h[:], column)
	return nil
}
