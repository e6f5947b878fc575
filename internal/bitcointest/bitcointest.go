// Package bitcointest builds PSBTs for tests: of every input type, in both versions,
// with arbitrary fields. It checks nothing, so that tests can build invalid ones too.
package bitcointest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// PSBT describes a PSBT to build.
type PSBT struct {
	Version   uint32 // psbt.Version0 or psbt.Version2
	TxVersion uint32 // 2 if zero
	LockTime  uint32
	Inputs    []Input
	Outputs   []Output
	Global    []Record
	Unsorted  bool // write the records in the order in which they were added
}

// Record is one record of a map: a key with its type in front, and a value.
type Record struct{ Key, Value []byte }

// Input is an input and the output that it spends.
type Input struct {
	Amount   uint64
	Script   []byte
	Sequence uint32 // ffffffff if zero
	Proof    bool   // include the transaction that is spent
	Claim    bool   // include the output that is spent
	Claimed  uint64 // the amount in the claimed output, if it is not Amount
	Sighash  int64  // PSBT_IN_SIGHASH_TYPE; none if negative
	Records  []Record
	Salt     uint32 // distinguishes transactions that are otherwise equal
	Tx       []byte // the transaction that is spent; nil for an invented one
	Index    uint32 // of the output in Tx
}

// Output is an output.
type Output struct {
	Amount  uint64
	Script  []byte
	Records []Record
}

// Previous returns the transaction that the input spends. An invented one has the
// output in second place, and a witness, so that its id is not the hash of all its
// bytes.
func (in *Input) Previous() []byte {
	if in.Tx != nil {
		return in.Tx
	}
	head, body := in.previousParts()
	out := append(append(head, 0, 1), body...)
	out = append(out, 1, 1, 0xaa) // one witness of one item
	return binary.LittleEndian.AppendUint32(out, 0)
}

// ID returns the id of Previous, in wire order.
func (in *Input) ID() [32]byte {
	if in.Tx != nil {
		tx, err := psbt.ReadTransaction(in.Tx, 0)
		if err != nil {
			panic("bitcointest: " + err.Error())
		}
		return tx.ID()
	}
	head, body := in.previousParts()
	once := sha256.Sum256(binary.LittleEndian.AppendUint32(append(head, body...), 0))
	return sha256.Sum256(once[:])
}

func (in *Input) index() uint32 {
	if in.Tx != nil {
		return in.Index
	}
	return 1
}

func (in *Input) previousParts() (head, body []byte) {
	head = binary.LittleEndian.AppendUint32(nil, 2)
	body = []byte{1}
	body = binary.LittleEndian.AppendUint32(append(body, make([]byte, 28)...), in.Salt)
	body = binary.LittleEndian.AppendUint32(body, 7)
	body = binary.LittleEndian.AppendUint32(append(body, 0), 0xffffffff)
	body = append(body, 2)
	body = AppendTxOut(body, 1234, []byte{0x51})
	return head, AppendTxOut(body, in.Amount, in.Script)
}

// AppendTxOut appends amount ‖ <length> ‖ script.
func AppendTxOut(out []byte, amount uint64, script []byte) []byte {
	out = binary.LittleEndian.AppendUint64(out, amount)
	return append(psbt.AppendCompactSize(out, uint64(len(script))), script...)
}

// Encode encodes the PSBT, with the records of each map in the order of their keys.
func (p PSBT) Encode() []byte {
	out := p.appendMap([]byte("psbt\xff"), append(p.globalRecords(), p.Global...))
	for i := range p.Inputs {
		out = p.appendMap(out, append(p.inputRecords(&p.Inputs[i]), p.Inputs[i].Records...))
	}
	for i := range p.Outputs {
		out = p.appendMap(out, append(p.outputRecords(&p.Outputs[i]), p.Outputs[i].Records...))
	}
	return out
}

func (p PSBT) appendMap(out []byte, records []Record) []byte {
	if !p.Unsorted {
		slices.SortStableFunc(records, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) })
	}
	for _, record := range records {
		out = psbt.AppendRecord(out, record.Key, record.Value)
	}
	return append(out, 0)
}

func (p PSBT) globalRecords() []Record {
	if p.Version == psbt.Version0 {
		return []Record{{[]byte{psbt.GlobalUnsignedTx}, p.Unsigned()}}
	}
	return []Record{
		{[]byte{psbt.GlobalTxVersion}, le32(cmp.Or(p.TxVersion, 2))},
		{[]byte{psbt.GlobalFallbackLocktime}, le32(p.LockTime)},
		{[]byte{psbt.GlobalInputCount}, psbt.AppendCompactSize(nil, uint64(len(p.Inputs)))},
		{[]byte{psbt.GlobalOutputCount}, psbt.AppendCompactSize(nil, uint64(len(p.Outputs)))},
		{[]byte{psbt.GlobalVersion}, le32(p.Version)},
	}
}

// Unsigned returns the unsigned transaction.
func (p PSBT) Unsigned() []byte {
	out := le32(cmp.Or(p.TxVersion, 2))
	out = psbt.AppendCompactSize(out, uint64(len(p.Inputs)))
	for i := range p.Inputs {
		id := p.Inputs[i].ID()
		out = binary.LittleEndian.AppendUint32(append(out, id[:]...), p.Inputs[i].index())
		out = append(out, 0)
		out = binary.LittleEndian.AppendUint32(out, cmp.Or(p.Inputs[i].Sequence, 0xffffffff))
	}
	out = psbt.AppendCompactSize(out, uint64(len(p.Outputs)))
	for i := range p.Outputs {
		out = AppendTxOut(out, p.Outputs[i].Amount, p.Outputs[i].Script)
	}
	return binary.LittleEndian.AppendUint32(out, p.LockTime)
}

func (p PSBT) inputRecords(in *Input) []Record {
	var records []Record
	if in.Proof {
		records = append(records, Record{[]byte{psbt.InNonWitnessUTXO}, in.Previous()})
	}
	if in.Claim {
		records = append(records, Record{[]byte{psbt.InWitnessUTXO},
			AppendTxOut(nil, cmp.Or(in.Claimed, in.Amount), in.Script)})
	}
	if in.Sighash >= 0 {
		records = append(records, Record{[]byte{psbt.InSighashType}, le32(uint32(in.Sighash))})
	}
	if p.Version == psbt.Version2 {
		id := in.ID()
		records = append(records,
			Record{[]byte{psbt.InPreviousTxID}, id[:]},
			Record{[]byte{psbt.InOutputIndex}, le32(in.index())},
			Record{[]byte{psbt.InSequence}, le32(cmp.Or(in.Sequence, 0xffffffff))})
	}
	return records
}

func (p PSBT) outputRecords(out *Output) []Record {
	if p.Version == psbt.Version0 {
		return nil
	}
	return []Record{
		{[]byte{psbt.OutAmount}, binary.LittleEndian.AppendUint64(nil, out.Amount)},
		{[]byte{psbt.OutScript}, out.Script},
	}
}

func le32(value uint32) []byte { return binary.LittleEndian.AppendUint32(nil, value) }
