package ethereum

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/crypto/kzg4844"

	"github.com/countersign-dev/countersign/internal/rlp"
)

const (
	blobSize     = 1 << 17 // bytes: 4,096 field elements of 32
	kzgSize      = 48      // bytes of a commitment and of a proof (compressed G1)
	cellsPerBlob = 128     // proofs of one blob in wrapper version 1 (EIP-7594)
)

// parseNetworkForm reads the form in which blob transactions are transmitted:
//
//	version 0   [body, blobs, commitments, proofs]           one proof per blob
//	version 1   [body, 1, blobs, commitments, cellProofs]    128 per blob (EIP-7594)
func (tx *transaction) parseNetworkForm(f *rlp.Fields) error {
	start := f.At()
	count := f.Count()
	if count >= 0 && count != 4 && count != 5 {
		f.Fail("", start, "%d items: the network form has 4, or 5 with its version (EIP-7594)", count)
	}
	body := f.List("body")
	if f.Err() == nil {
		tx.readBody(&body)
	}
	f.Join(&body)
	tx.whole = false
	tx.sidecar = f.Rest()

	proofs, number := uint64(1), 2
	if offset := f.At(); f.More() && !f.NextIsList() {
		if version := f.Uint8("version"); f.Err() == nil && version != 1 {
			f.Fail("version", offset, "unknown wrapper version %d: expected 1, or none (EIP-7594)", version)
		}
		proofs, number = cellsPerBlob, 3
	}
	tx.sidecarV0 = number == 2
	sidecar := sidecar{
		number:      number,
		blobs:       tx.readList(f, "blobs", blobSize, tx.blobs),
		commitments: tx.readList(f, "commitments", kzgSize, tx.blobs),
		proofs:      tx.readList(f, "proofs", kzgSize, tx.blobs*proofs),
	}
	if err := f.Close(); err != nil {
		return err
	}
	return sidecar.check(tx)
}

// sidecar has views of the raw bytes: blobs of blobSize bytes, and commitments and
// proofs of kzgSize, each of these two after a header of one byte.
type sidecar struct {
	number                     int // of the field blobs; commitments and proofs follow
	blobs, commitments, proofs []rlp.Span
}

// readList reads a list of want strings of size bytes each.
func (tx *transaction) readList(f *rlp.Fields, name string, size int, want uint64) []rlp.Span {
	offset := f.At()
	list := f.List(name)
	count := list.Count()
	if count >= 0 && uint64(count) != want {
		f.Fail(name, offset, "length %d, want %d for %d blob hashes", count, want, tx.blobs)
		return nil
	}
	var spans []rlp.Span
	for list.More() {
		list.Bytes(strings.TrimSuffix(name, "s"), size)
		spans = append(spans, rlp.Between(list.At()-size, list.At()))
	}
	f.Join(&list)
	return spans
}

// check checks that each commitment has the hash that the body names, and
// verifies the proofs with go-ethereum's library.
func (s *sidecar) check(tx *transaction) error {
	perBlob := len(s.proofs) / len(s.blobs)
	for i := range s.blobs {
		commitment := kzg4844.Commitment(s.commitments[i].Of(tx.raw))
		hash := kzg4844.CalcBlobHashV1(sha256.New(), &commitment)
		if !bytes.Equal(hash[:], tx.blobHash(uint64(i))) {
			return malformed(fmt.Sprintf("field %d (commitments), item %d", s.number+1, i+1),
				int(s.commitments[i].Start)-1,
				"is not the one whose hash blobVersionedHashes has")
		}
		blob := (*kzg4844.Blob)(s.blobs[i].Of(tx.raw))
		if err := verifyBlob(tx.raw, blob, commitment, s.proofs[i*perBlob:(i+1)*perBlob]); err != nil {
			return malformed(fmt.Sprintf("field %d (proofs), item %d", s.number+2, i*perBlob+1),
				int(s.proofs[i*perBlob].Start)-1,
				fmt.Sprintf("the KZG proof of blob %d does not verify: %v", i+1, err))
		}
	}
	return nil
}

func verifyBlob(raw []byte, blob *kzg4844.Blob, commitment kzg4844.Commitment, spans []rlp.Span) error {
	if len(spans) == 1 {
		return kzg4844.VerifyBlobProof(blob, commitment, kzg4844.Proof(spans[0].Of(raw)))
	}
	proofs := make([]kzg4844.Proof, len(spans))
	for i, span := range spans {
		proofs[i] = kzg4844.Proof(span.Of(raw))
	}
	return kzg4844.VerifyCellProofs([]kzg4844.Blob{*blob}, []kzg4844.Commitment{commitment}, proofs)
}

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

// blobHash returns the i-th versioned hash. Each item is 32 bytes after a header of one.
func (tx *transaction) blobHash(i uint64) []byte {
	start := int(tx.blobHashes.Start) + int(i)*33 + 1
	return tx.raw[start : start+32]
}
