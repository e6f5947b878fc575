package solana

import (
	"bytes"
	"crypto/ed25519"
)

// Version is the version of a transaction's message.
type Version int8

// The versions that are read.
const (
	Legacy    Version = -1 // without a version
	Version0  Version = 0  // with address lookup tables
	Version1  Version = 1  // SIMD-0385
	prefixBit         = 0x80
)

// String returns "legacy", "0" or "1", as the network's RPC does.
func (v Version) String() string {
	switch v {
	case Legacy:
		return "legacy"
	case Version0:
		return "0"
	}
	return "1"
}

// message is the wire form of one transaction: where its parts are in the raw bytes. The
// parser has checked all of it.
type message struct {
	raw     []byte
	version Version

	// Offsets in raw, and counts.
	signaturesAt           int // of the first slot
	messageAt, messageEnd  int
	keysAt, keys           int // of the keys in the message itself
	blockhashAt            int
	loaded, loadedWritable int // accounts from lookup tables
	header                 header
	config                 config // of v1
	budget                 budget // of legacy and v0
	instructions           []instruction
	lookups                []lookup

	// The backing arrays of the two slices in most transactions, to save allocations.
	inlineInstructions [6]instruction
	inlineLookups      [2]lookup
}

// The limits of a legacy or v0 transaction.
const (
	maxAccounts     = 64 // locked accounts: keys of the message and entries of lookup tables
	maxInstructions = 64 // SIMD-0160
)

// header says what access the account keys of the message have. The signers come first, and the
// first of them pays the fee. In either group the writable keys come before the read-only ones.
//
//	writable signers │ read-only signers │ writable │ read-only
//	◄────────── required ───────────────►           ◄ readonlyUnsigned ►
//	                 ◄─ readonlySigned ─►
type header struct {
	required, readonlySigned, readonlyUnsigned int
}

// config is the configuration of a v1 message. A value that the mask leaves out is zero
// and means zero, except the heap size, which is minHeapSize then.
type config struct {
	mask             uint32
	priorityFee      uint64 // lamports, for the whole transaction
	computeUnitLimit uint32
	loadedDataLimit  uint32 // bytes of account data
	heapSize         uint32 // bytes
}

// budget is what the instructions of the Compute Budget program set that the fee depends on.
type budget struct {
	units       uint64 // the compute-unit limit
	unitsAreSet bool
	price       uint64 // micro-lamports per unit
	priceIsSet  bool
}

// instruction locates the parts of an instruction in the raw bytes.
type instruction struct {
	programAt           int // of the program's index
	accountsAt, numbers int // one byte for each account: its index
	dataAt, size        int
}

// lookup locates the parts of an address table lookup in the raw bytes.
type lookup struct {
	keyAt                int
	writableAt, writable int // one byte for each: its index in the table
	readonlyAt, readonly int
}

// Message returns the bytes that the signatures cover. They are part of the raw
// bytes and must not be changed.
func (m *message) Message() []byte {
	return m.raw[m.messageAt:m.messageEnd:m.messageEnd]
}

// Complete reports whether every slot has its signature.
func (m *message) Complete() bool { return len(m.missingSlots()) == 0 }

// key returns the i-th of the message's own account keys.
func (m *message) key(i int) []byte {
	offset := m.keysAt + i*keySize
	return m.raw[offset : offset+keySize]
}

func (m *message) signatureAt(i int) int { return m.signaturesAt + i*ed25519.SignatureSize }

func (m *message) signature(i int) []byte {
	offset := m.signatureAt(i)
	return m.raw[offset : offset+ed25519.SignatureSize]
}

func (m *message) filled(i int) bool { return !allZero(m.signature(i)) }

func (m *message) slotState(i int) string {
	if m.filled(i) {
		return "signed"
	}
	return "missing"
}

func (m *message) missingSlots() (slots []int) {
	for slot := range m.header.required {
		if !m.filled(slot) {
			slots = append(slots, slot)
		}
	}
	return slots
}

func (m *message) blockhash() []byte {
	return m.raw[m.blockhashAt : m.blockhashAt+keySize]
}

// headerAt returns the offset of the header, which follows the version if there is one.
func (m *message) headerAt() int {
	if m.version == Legacy {
		return m.messageAt
	}
	return m.messageAt + 1
}

func (m *message) program(i instruction) int     { return int(m.raw[i.programAt]) }
func (m *message) accounts(i instruction) []byte { return m.raw[i.accountsAt:][:i.numbers] }
func (m *message) data(i instruction) []byte     { return m.raw[i.dataAt:][:i.size] }

func (m *message) programID(i instruction) *[keySize]byte {
	return (*[keySize]byte)(m.key(m.program(i)))
}

// isSigner and isWritable report the access that the message asks for the account
// with an index. Those from lookup tables follow the message's own.
func (m *message) isSigner(account int) bool { return account < m.header.required }

func (m *message) isWritable(account int) bool {
	switch {
	case account < m.header.required:
		return account < m.header.required-m.header.readonlySigned
	case account < m.keys:
		return account < m.keys-m.header.readonlyUnsigned
	}
	return account < m.keys+m.loadedWritable
}

func (m *message) table(l lookup) []byte           { return m.raw[l.keyAt : l.keyAt+keySize] }
func (m *message) writableIndexes(l lookup) []byte { return m.raw[l.writableAt:][:l.writable] }
func (m *message) readonlyIndexes(l lookup) []byte { return m.raw[l.readonlyAt:][:l.readonly] }

// resolve returns the lookup that loads an account, and the account's index in the
// table. The account must not be one of the message's own keys.
func (m *message) resolve(account int) (from lookup, index byte) {
	position := account - m.keys
	for _, l := range m.lookups {
		if position < l.writable {
			return l, m.writableIndexes(l)[position]
		}
		position -= l.writable
	}
	for _, l := range m.lookups {
		if position < l.readonly {
			return l, m.readonlyIndexes(l)[position]
		}
		position -= l.readonly
	}
	panic("solana: account index out of range in a transaction that was checked")
}

// nonceAccounts returns the accounts of AdvanceNonceAccount, and whether the transaction uses a
// durable nonce. The nonce account is the first, its authority the third. Like the network, it
// looks only at the number of the first instruction, not at the data that follows.
func (m *message) nonceAccounts() (accounts []byte, ok bool) {
	if len(m.instructions) == 0 {
		return nil, false
	}
	first := m.instructions[0]
	data, accounts := m.data(first), m.accounts(first)
	return accounts, *m.programID(first) == systemID && len(accounts) > 0 && m.isWritable(int(accounts[0])) &&
		len(data) >= 4 && data[0] == advanceNonce && allZero(data[1:4])
}

func allZero(value []byte) bool { return len(bytes.TrimLeft(value, "\x00")) == 0 }

// advanceNonce is the number of AdvanceNonceAccount of the System program.
const advanceNonce = 4
