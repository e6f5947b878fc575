package solana

import (
	"crypto/ed25519"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
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

// Transaction is a view over the raw bytes of one transaction. It implements
// chains.Transaction. It is used by one goroutine at a time.
type Transaction struct {
	raw     []byte
	version Version

	// Offsets in raw, and counts.
	signaturesAt           int // of the first slot
	messageAt, messageEnd  int
	keysAt, keys           int // of the keys in the message itself
	blockhashAt            int
	loaded, loadedWritable int // accounts from lookup tables
	header                 header
	config                 config
	instructions           []instruction
	lookups                []lookup

	// The backing arrays of the two slices in most transactions, to save allocations.
	inlineInstructions [6]instruction
	inlineLookups      [2]lookup

	maxFee *big.Int // lamports; shared, must not be changed

	// tableAccounts are the accounts from lookup tables, in their order, after
	// WithTables. An account that is not known is nil.
	tableAccounts [][]byte
}

var _ chains.Transaction = (*Transaction)(nil)

// header says what access the account keys of the message have. The signers come
// first, and the first of them pays the fee. In either group the writable keys come
// before the read-only ones.
//
//	writable signers │ read-only signers │ writable │ read-only
//	◄─────── required ──────────►        │          ◄─ readonlyUnsigned ─►
//	                 ◄─ readonlySigned ─►
type header struct {
	required, readonlySigned, readonlyUnsigned int
}

// instruction locates the parts of an instruction in the raw bytes.
type instruction struct {
	programAt           int // of the program's index
	accountsAt, numbers int // one byte for each account: its index
	dataAt, size        int
}

// Version returns the version of the message.
func (t *Transaction) Version() Version { return t.version }

// Message returns the bytes that the signatures cover. They are part of the raw
// bytes and must not be changed.
func (t *Transaction) Message() []byte {
	return t.raw[t.messageAt:t.messageEnd:t.messageEnd]
}

// Complete reports whether every slot has its signature.
func (t *Transaction) Complete() bool {
	for i := range t.header.required {
		if !t.filled(i) {
			return false
		}
	}
	return true
}

// key returns the i-th of the message's own account keys.
func (t *Transaction) key(i int) []byte {
	offset := t.keysAt + i*keySize
	return t.raw[offset : offset+keySize]
}

// signatureAt returns the offset of the i-th slot.
func (t *Transaction) signatureAt(i int) int { return t.signaturesAt + i*ed25519.SignatureSize }

func (t *Transaction) signature(i int) []byte {
	offset := t.signatureAt(i)
	return t.raw[offset : offset+ed25519.SignatureSize]
}

// filled reports whether the i-th slot has a signature.
func (t *Transaction) filled(i int) bool { return !allZero(t.signature(i)) }

func (t *Transaction) blockhash() []byte {
	return t.raw[t.blockhashAt : t.blockhashAt+keySize]
}

func (t *Transaction) program(i instruction) int     { return int(t.raw[i.programAt]) }
func (t *Transaction) accounts(i instruction) []byte { return t.raw[i.accountsAt:][:i.numbers] }
func (t *Transaction) data(i instruction) []byte     { return t.raw[i.dataAt:][:i.size] }

// isSigner and isWritable report the access that the message asks for the account
// with an index. Those from lookup tables follow the message's own.
func (t *Transaction) isSigner(account int) bool { return account < t.header.required }

func (t *Transaction) isWritable(account int) bool {
	switch {
	case account < t.header.required:
		return account < t.header.required-t.header.readonlySigned
	case account < t.keys:
		return account < t.keys-t.header.readonlyUnsigned
	}
	return account < t.keys+t.loadedWritable
}

func allZero(value []byte) bool {
	for _, b := range value {
		if b != 0 {
			return false
		}
	}
	return true
}
