package psbt

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// The least bytes that parts of a transaction take, so that a count can be compared
// with the bytes that are left before anything is allocated for it.
const (
	minInput  = 32 + 4 + 1 + 4 // transaction id, index, empty script, sequence
	minOutput = 8 + 1          // amount, empty script
)

// Transaction is a whole network transaction, as in PSBT_IN_NON_WITNESS_UTXO, read
// strictly: a view over its bytes.
//
//	version (4)  [00 01]  inputs  outputs  [witnesses]  locktime (4)
type Transaction struct {
	raw     []byte
	segwit  bool
	outputs []byte // from the first output on
	count   uint64 // of outputs
	witness int    // where the witnesses begin, the locktime if there are none
}

// ReadTransaction reads a network transaction, with or without witnesses. offset is its
// position in the PSBT.
func ReadTransaction(raw []byte, offset int) (Transaction, error) {
	c := cursor{data: raw, base: offset}
	c.take(4)
	tx := Transaction{raw: raw, segwit: len(raw) > 5 && raw[4] == 0 && raw[5] == 1}
	if tx.segwit {
		c.at += 2
	}
	inputs := readCount(&c, minInput)
	if inputs == 0 {
		c.fail(offset+4, "transaction without inputs")
	}
	for range inputs { // outpoint, script and sequence
		c.take(36)
		c.sized()
		c.take(4)
	}
	tx.count = readCount(&c, minOutput)
	tx.outputs = c.data[c.at:]
	for range tx.count {
		readOutput(&c)
	}
	if tx.witness = c.at; tx.segwit {
		readWitnesses(&c, inputs)
	}
	c.take(4)
	return tx, c.end()
}

// readCount reads the number of parts that follow. least is the smallest size of a
// part: a count for which the bytes left have no room is refused.
func readCount(c *cursor, least uint64) uint64 {
	start, count := c.offset(), c.compactSize()
	if count > uint64(c.remaining())/least {
		c.fail(start, "count of %d does not fit into the %d bytes that follow", count, c.remaining())
		return 0
	}
	return count
}

func readOutput(c *cursor) (amount uint64, script []byte) { return c.uint(8), c.sized() }

// readWitnesses reads one witness for each input. A transaction with the marker of
// BIP-144 must have an item in one of them.
func readWitnesses(c *cursor, inputs uint64) {
	start, items := c.offset(), uint64(0)
	for range inputs {
		count := readCount(c, 1)
		items += count
		for range count {
			c.sized()
		}
	}
	if items == 0 {
		c.fail(start, "marked as having witnesses and has none")
	}
}

// ID returns the transaction id: SHA-256 twice over the transaction without its
// witnesses, in the byte order of outpoints.
func (t *Transaction) ID() [32]byte {
	if !t.segwit {
		once := sha256.Sum256(t.raw)
		return sha256.Sum256(once[:])
	}
	hash := sha256.New()
	hash.Write(t.raw[:4])
	hash.Write(t.raw[6:t.witness])
	hash.Write(t.raw[len(t.raw)-4:])
	var once [32]byte
	hash.Sum(once[:0])
	return sha256.Sum256(once[:])
}

// Output returns an output: its amount in satoshi and its script, a view.
func (t *Transaction) Output(index uint32) (amount uint64, script []byte, err error) {
	if uint64(index) >= t.count {
		return 0, nil, fmt.Errorf("output %d is spent, the transaction has %d", index, t.count)
	}
	c := cursor{data: t.outputs}
	for range uint64(index) + 1 {
		amount, script = readOutput(&c)
	}
	return amount, script, c.err
}

// AppendTxOut appends an output: amount in satoshi (8) ‖ <length> ‖ script.
func AppendTxOut(out []byte, amount uint64, script []byte) []byte {
	out = binary.LittleEndian.AppendUint64(out, amount)
	return append(AppendCompactSize(out, uint64(len(script))), script...)
}

// ReadTxOut decodes a value of PSBT_IN_WITNESS_UTXO: amount in satoshi (8) ‖ <length> ‖
// script. The script is a view. It cannot fail for a value that Read has checked.
func ReadTxOut(value []byte) (amount uint64, script []byte, err error) {
	c := cursor{data: value}
	amount, script = readOutput(&c)
	return amount, script, c.end()
}

// ReadWitness decodes a value of PSBT_IN_FINAL_SCRIPTWITNESS: <number of items> ‖ (<length> ‖
// item)… The items are views. It cannot fail for a value that Read has checked.
func ReadWitness(value []byte) ([][]byte, error) {
	c := cursor{data: value}
	items := make([][]byte, readCount(&c, 1))
	for i := range items {
		items[i] = c.sized()
	}
	return items, c.end()
}

// readUnsigned reads the unsigned transaction of version 0: without witnesses,
// every input script empty.
//
//	version (4)  <n>  (txid (32)  index (4)  00  sequence (4))…
//	<n>  (amount (8)  <length>  script)…  locktime (4)
func (p *Packet) readUnsigned(record *Record) error {
	c := cursor{data: record.Value, base: record.ValueOffset()}
	p.TxVersion = uint32(c.uint(4))
	p.Inputs = make([]Input, readCount(&c, minInput))
	for i := range p.Inputs {
		in := &p.Inputs[i]
		in.Offset = c.offset()
		copy(in.PreviousTxID[:], c.take(32))
		in.OutputIndex = uint32(c.uint(4))
		offset := c.offset()
		if script := c.sized(); len(script) > 0 {
			c.fail(offset, "input %d has a script: the transaction must be unsigned", i)
		}
		in.Sequence = uint32(c.uint(4))
	}
	p.Outputs = make([]Output, readCount(&c, minOutput))
	for i := range p.Outputs {
		p.Outputs[i].Offset = c.offset()
		p.Outputs[i].Amount, p.Outputs[i].Script = readOutput(&c)
	}
	p.LockTime = uint32(c.uint(4))
	return c.end()
}
