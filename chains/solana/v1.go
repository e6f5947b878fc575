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
func (p *parser) readV1() (err error) {
	p.version = Version1
	p.offset = 1
	if err := p.readHeader(); err != nil {
		return err
	}
	if err := p.readMask(); err != nil {
		return err
	}
	if p.blockhashAt, err = p.skip(keySize, "lifetime_specifier"); err != nil {
		return err
	}
	instructions, err := p.readCountsV1()
	if err != nil {
		return err
	}
	if p.keysAt, err = p.skip(p.keys*keySize, "account_keys"); err != nil {
		return err
	}
	if err := p.readConfig(); err != nil {
		return err
	}
	if err := p.readInstructionsV1(instructions); err != nil {
		return err
	}
	p.messageEnd = p.offset
	if p.offset == len(p.message.raw) {
		return malformed("signatures", p.offset, "this is a message alone: append %d zeroed slots of 64 bytes", p.header.required)
	}
	p.signaturesAt, err = p.skip(p.header.required*ed25519.SignatureSize, "signatures")
	return err
}

// readMask refuses unknown bits: the values that follow could not be located.
func (p *parser) readMask() (err error) {
	offset := p.offset
	if p.config.mask, err = p.uint32("config.mask"); err != nil {
		return err
	}
	if unknown := p.config.mask &^ maskKnown; unknown != 0 {
		return malformed("config.mask", offset, "bit %d is not known", bits.TrailingZeros32(unknown))
	}
	if half := p.config.mask & maskPriorityFee; half != 0 && half != maskPriorityFee {
		return malformed("config.mask", offset, "only one of the priority fee's bits 0 and 1 is set: both or none")
	}
	return nil
}

func (p *parser) readCountsV1() (instructions int, err error) {
	offset := p.offset
	counts, err := p.uint16("instructions")
	if err != nil {
		return 0, err
	}
	instructions, p.keys = int(counts&0xff), int(counts>>8)
	switch {
	case p.header.required > maxSignaturesV1:
		return 0, malformed("header.num_required_signatures", p.headerAt(), "%d signers, of at most %d", p.header.required, maxSignaturesV1)
	case instructions > maxInstructionsV1:
		return 0, malformed("instructions", offset, "%d instructions, of at most %d", instructions, maxInstructionsV1)
	case p.keys > maxAddressesV1:
		return 0, malformed("account_keys", offset+1, "%d keys, of at most %d", p.keys, maxAddressesV1)
	}
	return instructions, p.checkHeader()
}

// readConfig reads the values that the mask announces.
func (p *parser) readConfig() (err error) {
	mask := p.config.mask
	if mask&maskPriorityFee != 0 {
		if p.config.priorityFee, err = p.uint64("config.priority_fee"); err != nil {
			return err
		}
	}
	if mask&maskComputeUnitLimit != 0 {
		if p.config.computeUnitLimit, err = p.uint32("config.compute_unit_limit"); err != nil {
			return err
		}
	}
	if mask&maskLoadedDataLimit != 0 {
		if p.config.loadedDataLimit, err = p.uint32("config.loaded_accounts_data_size_limit"); err != nil {
			return err
		}
	}
	if mask&maskHeapSize != 0 {
		return p.readHeapSize()
	}
	return nil
}

func (p *parser) readHeapSize() error {
	offset := p.offset
	size, err := p.uint32("config.heap_size")
	if err != nil {
		return err
	}
	if !validHeapSize(size) {
		return malformed("config.heap_size", offset, "is %d: it must be a multiple of %d from %d to %d", size, heapSizeUnit, minHeapSize, maxHeapSize)
	}
	p.config.heapSize = size
	return nil
}

// readInstructionsV1 reads the instruction headers, then the payloads. A header
// is
//
//	u8                    program_id_index
//	u8                    number of accounts
//	u16                   length of data
func (p *parser) readInstructionsV1(count int) error {
	headers := cursor{raw: p.message.raw, offset: p.offset}
	if _, err := p.skip(count*4, "instructions"); err != nil {
		return err
	}
	p.instructions = slices.Grow(p.instructions, count) // at most maxInstructionsV1
	for i := range count {
		in := instruction{programAt: headers.offset}
		in.numbers = int(p.message.raw[in.programAt+1])
		in.size = int(binary.LittleEndian.Uint16(p.message.raw[in.programAt+2:]))
		headers.offset += 4
		var err error
		if in.accountsAt, err = p.skip(in.numbers, "accounts"); err != nil {
			return within(err, "instructions", i)
		}
		if in.dataAt, err = p.skip(in.size, "data"); err != nil {
			return within(err, "instructions", i)
		}
		p.instructions = append(p.instructions, in)
	}
	return nil
}

func validHeapSize(size uint32) bool {
	return size >= minHeapSize && size <= maxHeapSize && size%heapSizeUnit == 0
}
