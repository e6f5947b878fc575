package psbt

import (
	"bytes"
	"encoding/binary"

	"github.com/countersign-dev/countersign/chains"
)

const magic = "psbt\xff"

// Versions of the format.
const (
	Version0 = 0 // BIP-174
	Version2 = 2 // BIP-370
)

// Packet is a PSBT that was read strictly: a view over Raw.
type Packet struct {
	Raw     []byte
	Version uint32 // Version0 or Version2
	Global  Map
	Inputs  []Input
	Outputs []Output

	TxVersion uint32 // of the transaction
	LockTime  uint32 // of the transaction; in version 2 by the rule of BIP-370
}

// Input is one input: its map, and what the unsigned transaction has of it.
type Input struct {
	Map
	Offset       int      // of the outpoint in the PSBT
	PreviousTxID [32]byte // of the transaction that is spent, in wire order (printed in reverse)
	OutputIndex  uint32
	Sequence     uint32
	Previous     *Transaction // PSBT_IN_NON_WITNESS_UTXO, nil if absent
}

// Output is one output: its map, and what the unsigned transaction has of it.
type Output struct {
	Map
	Offset int    // of the amount in the PSBT
	Amount uint64 // in satoshi
	Script []byte // a view
}

// Read reads a PSBT and keeps raw, which the caller must not change
// afterwards. Its error is a *chains.ParseError: chains.ErrUnsupported for a
// version other than 0 and 2, else chains.ErrMalformed.
func Read(raw []byte) (*Packet, error) {
	switch {
	case bytes.HasPrefix(raw, []byte(magic)):
	case len(raw) >= 10 && raw[0] >= 1 && raw[0] <= 3 && raw[1] == 0 && raw[2] == 0 && raw[3] == 0:
		return nil, malformed("", 0, "this looks like a bare transaction: give it as a PSBT (hex beginning "+
			"70736274ff), which says what its inputs spend")
	case bytes.HasPrefix(raw, []byte("cHNidP")):
		return nil, malformed("", 0, "this is the base64 of a PSBT: expected the hex of the PSBT itself")
	default:
		return nil, malformed("", 0, "not a PSBT: it does not begin with 70736274ff")
	}
	p := &Packet{Raw: raw}
	c := cursor{data: raw, at: len(magic)}
	records := make([]Record, 0, min(4+len(raw)/64, 4096))
	var err error
	if p.Global, err = readMap(&c, &records); err != nil {
		return nil, in("global map", err)
	}
	if err := p.readGlobal(&c); err != nil {
		return nil, err
	}
	for i := range p.Inputs {
		if err := p.readInput(&c, i, &records); err != nil {
			return nil, err
		}
	}
	for i := range p.Outputs {
		if err := p.readOutput(&c, i, &records); err != nil {
			return nil, err
		}
	}
	if err := c.end(); err != nil {
		return nil, in("end", err)
	}
	if p.Version == Version2 {
		return p, p.computeLockTime()
	}
	return p, nil
}

// readGlobal reads the version first: it decides which fields are allowed.
func (p *Packet) readGlobal(c *cursor) error {
	if record := p.Global.Find(GlobalVersion); record != nil && len(record.Value) == 4 {
		p.Version = binary.LittleEndian.Uint32(record.Value)
		if p.Version != Version0 && p.Version != Version2 {
			return &chains.ParseError{
				Kind: chains.ErrUnsupported, Chain: chainName, Field: "PSBT_GLOBAL_VERSION",
				Offset:  record.ValueOffset(),
				Problem: "PSBT of an unknown version: versions 0 (BIP-174) and 2 (BIP-370) are supported",
			}
		}
	}
	if err := p.check(&p.Global, &globalRules, section{}, GlobalUnsignedTx, GlobalTxVersion, GlobalInputCount,
		GlobalOutputCount); err != nil {
		return err
	}
	if p.Version == Version0 {
		return in("PSBT_GLOBAL_UNSIGNED_TX", p.readUnsigned(p.Global.Find(GlobalUnsignedTx)))
	}
	p.TxVersion = binary.LittleEndian.Uint32(p.Global.Value(GlobalTxVersion))
	inputs, err := p.count(GlobalInputCount, c.remaining(), minInputMap)
	if err != nil {
		return err
	}
	outputs, err := p.count(GlobalOutputCount, c.remaining()-inputs*minInputMap, minOutputMap)
	p.Inputs, p.Outputs = make([]Input, inputs), make([]Output, outputs)
	return err
}

func (p *Packet) readInput(c *cursor, index int, records *[]Record) error {
	at, input := section{"input", index}, &p.Inputs[index]
	var err error
	if input.Map, err = readMap(c, records); err != nil {
		return in(at.String(), err)
	}
	if err := p.check(&input.Map, &inputRules, at, InPreviousTxID, InOutputIndex); err != nil {
		return err
	}
	if record := input.Find(InNonWitnessUTXO); record != nil {
		previous, err := ReadTransaction(record.Value, record.ValueOffset())
		if err != nil {
			return in(at.field("PSBT_IN_NON_WITNESS_UTXO"), err)
		}
		input.Previous = &previous
	}
	if p.Version == Version2 {
		txid := input.Find(InPreviousTxID)
		input.Offset, input.PreviousTxID = txid.Offset, [32]byte(txid.Value)
		input.OutputIndex = binary.LittleEndian.Uint32(input.Value(InOutputIndex))
		input.Sequence = defaultSequence
		if sequence := input.Value(InSequence); sequence != nil {
			input.Sequence = binary.LittleEndian.Uint32(sequence)
		}
	}
	return nil
}

func (p *Packet) readOutput(c *cursor, index int, records *[]Record) error {
	at, output := section{"output", index}, &p.Outputs[index]
	var err error
	if output.Map, err = readMap(c, records); err != nil {
		return in(at.String(), err)
	}
	if err := p.check(&output.Map, &outputRules, at, OutAmount, OutScript); err != nil {
		return err
	}
	if p.Version == Version2 {
		amount := output.Find(OutAmount)
		output.Offset, output.Amount = amount.Offset, binary.LittleEndian.Uint64(amount.Value)
		output.Script = output.Value(OutScript)
	}
	return nil
}

// check checks the records of a map by the rules of their fields, and that it has those that its
// version requires.
func (p *Packet) check(m *Map, rules *[256]rule, at section, required ...uint64) error {
	for i := range m.Records {
		record := &m.Records[i]
		if record.Type >= uint64(len(rules)) || rules[record.Type].name == "" {
			continue
		}
		if err := p.checkRecord(record, &rules[record.Type], at); err != nil {
			return err
		}
	}
	for _, keyType := range required {
		if p.allows(&rules[keyType]) && m.Find(keyType) == nil {
			return malformed(at.field(rules[keyType].name), m.End, "missing")
		}
	}
	return nil
}

// allows reports whether the field is one of the packet's version.
func (p *Packet) allows(rule *rule) bool {
	return rule.only == inBoth || (rule.only == inV0) == (p.Version == Version0)
}

func (p *Packet) checkRecord(record *Record, rule *rule, at section) error {
	if !p.allows(rule) {
		return malformed(at.field(rule.name), record.Offset, "not a field of a PSBT of version %d", p.Version)
	}
	if rule.sp {
		return &chains.ParseError{
			Kind: chains.ErrUnsupported, Chain: chainName, Field: at.field(rule.name), Offset: record.Offset,
			Problem: "silent payments (BIP-375, BIP-376) are not verified, and so not signed: pay to an address " +
				"instead",
		}
	}
	if err := rule.key(record.Data()); err != nil {
		return malformed(at.field(rule.name), record.DataOffset(), "key: %s", err)
	}
	if err := rule.value(record.Value); err != nil {
		return malformed(at.field(rule.name), record.ValueOffset(), "%s", err)
	}
	return nil
}
