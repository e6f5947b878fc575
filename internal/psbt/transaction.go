package psbt

import (
	"crypto/sha256"
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
	tx := Transaction{raw: raw}
	if _, err := c.take(4); err != nil {
		return tx, err
	}
	tx.segwit = len(raw) > 5 && raw[4] == 0 && raw[5] == 1
	if tx.segwit {
		c.at += 2
	}
	inputs, err := readCount(&c, minInput)
	if err != nil {
		return tx, err
	}
	if inputs == 0 {
		return tx, c.fault(offset+4, "transaction without inputs")
	}
	for range inputs {
		if err := skipInput(&c); err != nil {
			return tx, err
		}
	}
	if err := tx.readOutputs(&c); err != nil {
		return tx, err
	}
	tx.witness = c.at
	if tx.segwit {
		if err := readWitnesses(&c, inputs); err != nil {
			return tx, err
		}
	}
	if _, err := c.uint32(); err != nil {
		return tx, err
	}
	return tx, c.end()
}

func (t *Transaction) readOutputs(c *cursor) (err error) {
	if t.count, err = readCount(c, minOutput); err != nil {
		return err
	}
	t.outputs = c.data[c.at:]
	for range t.count {
		if _, _, err := readOutput(c); err != nil {
			return err
		}
	}
	return nil
}

// readCount reads the number of parts that follow. least is the smallest size of a
// part: a count for which the bytes left have no room is refused.
func readCount(c *cursor, least uint64) (uint64, error) {
	start := c.offset()
	count, err := c.compactSize()
	if err != nil {
		return 0, err
	}
	if count > uint64(c.remaining())/least {
		return 0, c.fault(start, "count of %d does not fit into the %d bytes that follow", count, c.remaining())
	}
	return count, nil
}

func skipInput(c *cursor) error {
	if _, err := c.take(36); err != nil {
		return err
	}
	if _, err := c.sized(); err != nil {
		return err
	}
	_, err := c.take(4)
	return err
}

func readOutput(c *cursor) (amount uint64, script []byte, err error) {
	if amount, err = c.uint64(); err != nil {
		return 0, nil, err
	}
	script, err = c.sized()
	return amount, script, err
}

// readWitnesses reads one witness for each input. A transaction with the marker of
// BIP-144 must have an item in one of them.
func readWitnesses(c *cursor, inputs uint64) error {
	start, items := c.offset(), uint64(0)
	for range inputs {
		count, err := readCount(c, 1)
		if err != nil {
			return err
		}
		items += count
		for range count {
			if _, err := c.sized(); err != nil {
				return err
			}
		}
	}
	if items == 0 {
		return c.fault(start, "marked as having witnesses and has none")
	}
	return nil
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
		if amount, script, err = readOutput(&c); err != nil {
			return 0, nil, err
		}
	}
	return amount, script, nil
}

// ReadTxOut decodes a value of PSBT_IN_WITNESS_UTXO: amount in satoshi (8) ‖ <length> ‖
// script. The script is a view. It cannot fail for a value that Read has checked.
func ReadTxOut(value []byte) (amount uint64, script []byte, err error) {
	c := cursor{data: value}
	if amount, script, err = readOutput(&c); err != nil {
		return 0, nil, err
	}
	return amount, script, c.end()
}

// ReadWitness decodes a value of PSBT_IN_FINAL_SCRIPTWITNESS: <number of items> ‖
// (<length> ‖ item)… The items are views. It cannot fail for a value that Read has
// checked.
func ReadWitness(value []byte) ([][]byte, error) {
	c := cursor{data: value}
	count, err := readCount(&c, 1)
	if err != nil {
		return nil, err
	}
	items := make([][]byte, count)
	for i := range items {
		if items[i], err = c.sized(); err != nil {
			return nil, err
		}
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
	var err error
	if p.TxVersion, err = c.uint32(); err != nil {
		return err
	}
	inputs, err := readCount(&c, minInput)
	if err != nil {
		return err
	}
	p.Inputs = make([]Input, inputs)
	for i := range p.Inputs {
		if err := p.Inputs[i].readUnsigned(&c, i); err != nil {
			return err
		}
	}
	outputs, err := readCount(&c, minOutput)
	if err != nil {
		return err
	}
	p.Outputs = make([]Output, outputs)
	for i := range p.Outputs {
		p.Outputs[i].Offset = c.offset()
		if p.Outputs[i].Amount, p.Outputs[i].Script, err = readOutput(&c); err != nil {
			return err
		}
	}
	if p.LockTime, err = c.uint32(); err != nil {
		return err
	}
	return c.end()
}

func (in *Input) readUnsigned(c *cursor, index int) error {
	in.Offset = c.offset()
	txid, err := c.take(32)
	if err != nil {
		return err
	}
	in.PreviousTxID = [32]byte(txid)
	if in.OutputIndex, err = c.uint32(); err != nil {
		return err
	}
	offset := c.offset()
	script, err := c.sized()
	if err != nil {
		return err
	}
	if len(script) > 0 {
		return c.fault(offset, "input %d has a script: the transaction must be unsigned", index)
	}
	in.Sequence, err = c.uint32()
	return err
}
