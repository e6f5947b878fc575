package solana

import (
	"crypto/ed25519"
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
func (p *parser) readV1() {
	p.version = Version1
	p.offset = 1
	p.readHeader()
	offset := p.offset // unknown bits are refused: the values that follow could not be located
	p.config.mask = p.uint32("config.mask")
	if unknown := p.config.mask &^ maskKnown; unknown != 0 {
		p.refuse("config.mask", offset, "bit %d is not known", bits.TrailingZeros32(unknown))
	}
	if half := p.config.mask & maskPriorityFee; half != 0 && half != maskPriorityFee {
		p.refuse("config.mask", offset, "only one of the priority fee's bits 0 and 1 is set: both or none")
	}
	p.blockhashAt = p.skip(keySize, "lifetime_specifier")
	instructions := p.readCountsV1()
	p.keysAt = p.skip(p.keys*keySize, "account_keys")
	p.readConfig()
	p.readInstructionsV1(instructions)
	if p.messageEnd = p.offset; p.left() == 0 {
		p.refuse("signatures", p.offset, "this is a message alone: append %d zeroed slots of 64 bytes",
			p.header.required)
	}
	p.signaturesAt = p.skip(p.header.required*ed25519.SignatureSize, "signatures")
}

func (p *parser) readCountsV1() (instructions int) {
	offset := p.offset
	counts := p.uint(2, "instructions")
	instructions, p.keys = int(counts&0xff), int(counts>>8)
	switch {
	case p.header.required > maxSignaturesV1:
		p.refuse("header.num_required_signatures", p.headerAt(), "%d signers, of at most %d", p.header.required,
			maxSignaturesV1)
	case instructions > maxInstructionsV1:
		p.refuse("instructions", offset, "%d instructions, of at most %d", instructions, maxInstructionsV1)
	case p.keys > maxAddressesV1:
		p.refuse("account_keys", offset+1, "%d keys, of at most %d", p.keys, maxAddressesV1)
	}
	p.checkHeader()
	return instructions
}

func (p *parser) readConfig() {
	mask := p.config.mask
	if mask&maskPriorityFee != 0 {
		p.config.priorityFee = p.uint(8, "config.priority_fee")
	}
	if mask&maskComputeUnitLimit != 0 {
		p.config.computeUnitLimit = p.uint32("config.compute_unit_limit")
	}
	if mask&maskLoadedDataLimit != 0 {
		p.config.loadedDataLimit = p.uint32("config.loaded_accounts_data_size_limit")
	}
	if mask&maskHeapSize == 0 {
		return
	}
	offset := p.offset
	if p.config.heapSize = p.uint32("config.heap_size"); !validHeapSize(p.config.heapSize) {
		p.refuse("config.heap_size", offset, "is %d: it must be a multiple of %d from %d to %d",
			p.config.heapSize, heapSizeUnit, minHeapSize, maxHeapSize)
	}
}

// readInstructionsV1 reads the instruction headers, then the payloads. A header is
//
//	u8                    program_id_index
//	u8                    number of accounts
//	u16                   length of data
func (p *parser) readInstructionsV1(count int) {
	headersAt := p.skip(count*4, "instructions")
	if p.err != nil {
		return
	}
	p.instructions = slices.Grow(p.instructions, count) // at most maxInstructionsV1
	for i := 0; i < count && p.err == nil; i++ {
		headers := cursor{raw: p.message.raw, offset: headersAt + i*4}
		in := instruction{programAt: headers.skip(1, "")}
		in.numbers, in.size = int(headers.uint8("")), int(headers.uint(2, ""))
		in.accountsAt, in.dataAt = p.skip(in.numbers, "accounts"), p.skip(in.size, "data")
		p.instructions = append(p.instructions, in)
		p.qualify("instructions", i)
	}
}

func validHeapSize(size uint32) bool {
	return size >= minHeapSize && size <= maxHeapSize && size%heapSizeUnit == 0
}
