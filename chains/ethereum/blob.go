package ethereum

import "github.com/countersign-dev/countersign/internal/rlp"

const (
	blobGas     = 1 << 17 // gas of one blob (EIP-4844)
	maxBlobs    = 6       // blobs of one transaction (EIP-7594)
	hashVersion = 0x01    // first byte of a versioned hash: KZG (EIP-4844)
)

func (tx *transaction) readBlobItems(f *rlp.Fields) {
	tx.blobFeeCap = f.Uint256("maxFeePerBlobGas")
	offset := f.At()
	hashes := f.List("blobVersionedHashes")
	tx.blobHashes = hashes.Rest()
	for ; hashes.More(); tx.blobs++ {
		offset := hashes.At()
		if hash := hashes.Bytes("hash", 32); hash != nil && hash[0] != hashVersion {
			hashes.Fail("hash", offset, "unknown version 0x%02x: expected 0x01 (EIP-4844)", hash[0])
		}
	}
	f.Join(&hashes)
	switch {
	case tx.blobs == 0:
		f.Fail("blobVersionedHashes", offset, "is empty: a blob transaction has at least one blob")
	case tx.blobs > maxBlobs:
		f.Fail("blobVersionedHashes", offset, "%d blobs: a transaction has %d at most (EIP-7594)", tx.blobs, maxBlobs)
	case !tx.payable():
		f.Fail("blobVersionedHashes", offset,
			"gas·price + value + the fee of the blobs is over 256 bits: no balance could pay it")
	}
}

// blobHash returns the i-th versioned hash. Each item is 32 bytes after a header of
// one.
func (tx *transaction) blobHash(i uint64) []byte {
	start := int(tx.blobHashes.Start) + int(i)*33 + 1
	return tx.raw[start : start+32]
}
