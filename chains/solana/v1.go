package solana

import (
	"crypto/ed25519"
	"encoding/binary"
	"math/bits"
	"slices"
)

// The bits of a v1 message's config mask. Each announces one u32 value after the
// addresses, in this order.
const (
	maskPriorityFee      = 0b11 // both or none: the halves of one u64
	maskComputeUnitLimit = 1 << 2
	maskLoadedDataLimit  = 1 << 3
	maskHeapSize         = 1 << 4
	maskKnown            = maskPriorityFee | maskComputeUnitLimit | maskLoadedDataLimit | maskHeapSize
)

// The heap that a program may have, in bytes (SIMD-0385).
const (
	minHeapSize  = 32 << 10
	maxHeapSize  = 256 << 10
	heapSizeUnit = 1 << 10
)

// config is the configuration of a v1 message. A value that the mask leaves out is zero
// and means zero, except the heap size, which is minHeapSize then.
type config struct {
	mask             uint32
	priorityFee      uint64 // lamports, for the whole transaction
	computeUnitLimit uint32
	loadedDataLimit  uint32 // bytes of account data
	heapSize         uint32 // bytes
}

// readV1 reads a v1 transaction (SIMD-0385). Numbers are little-endian.
//
//	0x81
//	u8                    header.num_required_signatures
//	u8                    header.num_readonly_signed_accounts
//	u8                    header.num_readonly_unsigned_accounts
//	u32                   config.mask
//	32 bytes              lifetime_specifier: the blockhash
//	u8                    number of instructions
//	u8                    number of addresses
//	32 bytes each         account_keys
//	u32 each              config values, one for each bit of the mask
//	4 bytes each          instruction headers
//	                      instruction payloads: accounts ‖ data, of each
//	64 bytes each         signatures, num_required_signatures of them
//
// The message, which the signatures cover, ends before them.
func (t *Transaction) readV1(c *cursor) (err error) {
	t.version = Version1
	c.offset = 1
	if err := t.readHeader(c); err != nil {
		return err
	}
	if err := t.readMask(c); err != nil {
		return err
	}
	if t.blockhashAt, err = c.skip(keySize, "lifetime_specifier"); err != nil {
		return err
	}
	instructions, err := t.readCountsV1(c)
	if err != nil {
		return err
	}
	if t.keysAt, err = c.skip(t.keys*keySize, "account_keys"); err != nil {
		return err
	}
	if err := t.readConfig(c); err != nil {
		return err
	}
	if err := t.readInstructionsV1(c, instructions); err != nil {
		return err
	}
	t.messageEnd = c.offset
	if c.offset == len(t.raw) {
		return malformed("signatures", c.offset, "this is a message alone: append %d zeroed slots of 64 bytes", t.header.required)
	}
	t.signaturesAt, err = c.skip(t.header.required*ed25519.SignatureSize, "signatures")
	return err
}

// readMask refuses unknown bits: the values that follow could not be located.
func (t *Transaction) readMask(c *cursor) (err error) {
	offset := c.offset
	if t.config.mask, err = c.uint32("config.mask"); err != nil {
		return err
	}
	if unknown := t.config.mask &^ maskKnown; unknown != 0 {
		return malformed("config.mask", offset, "bit %d is not known", bits.TrailingZeros32(unknown))
	}
	if half := t.config.mask & maskPriorityFee; half != 0 && half != maskPriorityFee {
		return malformed("config.mask", offset, "only one of the priority fee's bits 0 and 1 is set: both or none")
	}
	return nil
}

func (t *Transaction) readCountsV1(c *cursor) (instructions int, err error) {
	offset := c.offset
	counts, err := c.uint16("instructions")
	if err != nil {
		return 0, err
	}
	instructions, t.keys = int(counts&0xff), int(counts>>8)
	switch {
	case t.header.required > maxSignaturesV1:
		return 0, malformed("header.num_required_signatures", t.headerAt(), "%d signers, of at most %d", t.header.required, maxSignaturesV1)
	case instructions > maxInstructionsV1:
		return 0, malformed("instructions", offset, "%d instructions, of at most %d", instructions, maxInstructionsV1)
	case t.keys > maxAddressesV1:
		return 0, malformed("account_keys", offset+1, "%d keys, of at most %d", t.keys, maxAddressesV1)
	}
	return instructions, t.checkHeader()
}

// readConfig reads the values that the mask announces.
func (t *Transaction) readConfig(c *cursor) (err error) {
	mask := t.config.mask
	if mask&maskPriorityFee != 0 {
		if t.config.priorityFee, err = c.uint64("config.priority_fee"); err != nil {
			return err
		}
	}
	if mask&maskComputeUnitLimit != 0 {
		if t.config.computeUnitLimit, err = c.uint32("config.compute_unit_limit"); err != nil {
			return err
		}
	}
	if mask&maskLoadedDataLimit != 0 {
		if t.config.loadedDataLimit, err = c.uint32("config.loaded_accounts_data_size_limit"); err != nil {
			return err
		}
	}
	if mask&maskHeapSize != 0 {
		return t.readHeapSize(c)
	}
	return nil
}

func (t *Transaction) readHeapSize(c *cursor) error {
	offset := c.offset
	size, err := c.uint32("config.heap_size")
	if err != nil {
		return err
	}
	if !validHeapSize(size) {
		return malformed("config.heap_size", offset, "is %d: it must be a multiple of %d from %d to %d", size, heapSizeUnit, minHeapSize, maxHeapSize)
	}
	t.config.heapSize = size
	return nil
}

// readInstructionsV1 reads the instruction headers, then the payloads. A header
// is
//
//	u8                    program_id_index
//	u8                    number of accounts
//	u16                   length of data
func (t *Transaction) readInstructionsV1(c *cursor, count int) error {
	headers := cursor{raw: c.raw, offset: c.offset}
	if _, err := c.skip(count*4, "instructions"); err != nil {
		return err
	}
	t.instructions = slices.Grow(t.instructions, count) // at most maxInstructionsV1
	for i := range count {
		in := instruction{programAt: headers.offset}
		in.numbers = int(c.raw[in.programAt+1])
		in.size = int(binary.LittleEndian.Uint16(c.raw[in.programAt+2:]))
		headers.offset += 4
		var err error
		if in.accountsAt, err = c.skip(in.numbers, "accounts"); err != nil {
			return within(err, "instructions", i)
		}
		if in.dataAt, err = c.skip(in.size, "data"); err != nil {
			return within(err, "instructions", i)
		}
		t.instructions = append(t.instructions, in)
	}
	return nil
}
