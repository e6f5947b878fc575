package psbt_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// randomTransaction returns a transaction with the given number of inputs and outputs.
func randomTransaction(random *rand.Rand, inputs, outputs int) *wire.MsgTx {
	tx := &wire.MsgTx{Version: int32(random.Uint32()), LockTime: random.Uint32()}
	for range inputs {
		in := &wire.TxIn{Sequence: random.Uint32()}
		in.PreviousOutPoint.Index = random.Uint32()
		copy(in.PreviousOutPoint.Hash[:], randomBytes(random, 32))
		tx.AddTxIn(in)
	}
	for range outputs {
		tx.AddTxOut(&wire.TxOut{Value: random.Int64(), PkScript: randomScript(random)})
	}
	return tx
}

func randomBytes(random *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

// randomScript returns a script of a length near a boundary of the compact size.
func randomScript(random *rand.Rand) []byte {
	sizes := []int{0, 1, 22, 0xfc, 0xfd, 0x100, 0x10000}
	return randomBytes(random, sizes[random.IntN(len(sizes))])
}

func serialize(t *testing.T, write func(w *bytes.Buffer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	testenv.Must(t, write(&out))
	return out.Bytes()
}

// packetOf returns a PSBT of a transaction.
func packetOf(t *testing.T, tx *wire.MsgTx, version byte) []byte {
	t.Helper()
	raw := []byte("psbt\xff")
	if version == '0' {
		unsigned := serialize(t, func(w *bytes.Buffer) error { return tx.SerializeNoWitness(w) })
		raw = append(psbt.AppendRecord(raw, []byte{psbt.GlobalUnsignedTx}, unsigned), 0)
		return append(raw, make([]byte, len(tx.TxIn)+len(tx.TxOut))...)
	}
	le32 := func(value uint32) []byte { return binary.LittleEndian.AppendUint32(nil, value) }
	raw = psbt.AppendRecord(raw, []byte{psbt.GlobalTxVersion}, le32(uint32(tx.Version)))
	raw = psbt.AppendRecord(raw, []byte{psbt.GlobalFallbackLocktime}, le32(tx.LockTime))
	raw = psbt.AppendRecord(raw, []byte{psbt.GlobalInputCount}, psbt.AppendCompactSize(nil, uint64(len(tx.TxIn))))
	raw = psbt.AppendRecord(raw, []byte{psbt.GlobalOutputCount}, psbt.AppendCompactSize(nil, uint64(len(tx.TxOut))))
	raw = append(psbt.AppendRecord(raw, []byte{psbt.GlobalVersion}, le32(2)), 0)
	for _, in := range tx.TxIn {
		raw = psbt.AppendRecord(raw, []byte{psbt.InPreviousTxID}, in.PreviousOutPoint.Hash[:])
		raw = psbt.AppendRecord(raw, []byte{psbt.InOutputIndex}, le32(in.PreviousOutPoint.Index))
		if in.Sequence != 0xffffffff {
			raw = psbt.AppendRecord(raw, []byte{psbt.InSequence}, le32(in.Sequence))
		}
		raw = append(raw, 0)
	}
	for _, out := range tx.TxOut {
		raw = psbt.AppendRecord(raw, []byte{psbt.OutAmount}, binary.LittleEndian.AppendUint64(nil, uint64(out.Value)))
		raw = append(psbt.AppendRecord(raw, []byte{psbt.OutScript}, out.PkScript), 0)
	}
	return raw
}

// TestUnsigned reads random transactions from PSBTs of both versions: every part must be
// what btcd wrote, and stand at its offset.
func TestUnsigned(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {1, 0}, {2, 3}, {7, 1}, {0xfc, 2}, {2, 0xfd}, {0xfd, 300}, {300, 0xfc}} {
		tx := randomTransaction(random, size[0], size[1])
		tx.TxIn[0].Sequence = 0xffffffff
		for _, version := range []byte("02") {
			t.Run(fmt.Sprintf("%d inputs, %d outputs, version %c", size[0], size[1], version), func(t *testing.T) {
				packet, err := psbt.Read(packetOf(t, tx, version))
				testenv.Must(t, err)
				checkUnsigned(t, packet, tx)
			})
		}
	}
}

func checkUnsigned(t *testing.T, packet *psbt.Packet, tx *wire.MsgTx) {
	t.Helper()
	if packet.TxVersion != uint32(tx.Version) || packet.LockTime != tx.LockTime || len(packet.Inputs) != len(tx.TxIn) || len(packet.Outputs) != len(tx.TxOut) {
		t.Fatalf("version %d, locktime %d, %d inputs, %d outputs", packet.TxVersion, packet.LockTime, len(packet.Inputs), len(packet.Outputs))
	}
	for i, want := range tx.TxIn {
		got := &packet.Inputs[i]
		begins := want.PreviousOutPoint.Hash[:]
		if packet.Version == psbt.Version2 {
			begins = psbt.AppendRecord(nil, []byte{psbt.InPreviousTxID}, begins)
		}
		if got.PreviousTxID != want.PreviousOutPoint.Hash || got.OutputIndex != want.PreviousOutPoint.Index || got.Sequence != want.Sequence ||
			!bytes.HasPrefix(packet.Raw[got.Offset:], begins) {
			t.Errorf("input %d: %x:%d, sequence %x, at byte %d; want %+v", i, got.PreviousTxID, got.OutputIndex, got.Sequence, got.Offset, want)
		}
	}
	for i, want := range tx.TxOut {
		got := &packet.Outputs[i]
		begins := binary.LittleEndian.AppendUint64(nil, uint64(want.Value))
		if packet.Version == psbt.Version2 {
			begins = psbt.AppendRecord(nil, []byte{psbt.OutAmount}, begins)
		}
		if got.Amount != uint64(want.Value) || !bytes.Equal(got.Script, want.PkScript) || !bytes.HasPrefix(packet.Raw[got.Offset:], begins) {
			t.Errorf("output %d: %d to %d bytes, at byte %d; want %d to %d bytes", i, got.Amount, len(got.Script), got.Offset, want.Value, len(want.PkScript))
		}
	}
	// Appending to a view must not overwrite the PSBT, or the records of the next map.
	for _, records := range [][]psbt.Record{packet.Global.Records, packet.Inputs[0].Records} {
		if cap(records) != len(records) {
			t.Error("a map has room for more records")
		}
		for _, r := range records {
			if cap(r.Key) != len(r.Key) || cap(r.Value) != len(r.Value) {
				t.Errorf("the view of %x has room behind it", r.Key)
			}
		}
	}
	if !bytes.Equal(packet.Unsigned(), serialize(t, func(w *bytes.Buffer) error { return tx.SerializeNoWitness(w) })) {
		t.Error("Unsigned is not the transaction")
	}
	if !bytes.Equal(packet.Encode(), packet.Raw) {
		t.Error("encoded differently")
	}
}

// TestUnsignedHasNoScript checks that an input script is refused, where it is.
func TestUnsignedHasNoScript(t *testing.T) {
	for _, size := range []int{1, 2, 0xfd} {
		tx := randomTransaction(rand.New(rand.NewPCG(1, 2)), 2, 1)
		tx.TxIn[1].SignatureScript = make([]byte, size)
		raw := packetOf(t, tx, '0')
		_, err := psbt.Read(raw)
		at := bytes.Index(raw, tx.TxIn[1].PreviousOutPoint.Hash[:]) + 36
		checkRefusal(t, err, "PSBT_GLOBAL_UNSIGNED_TX", at, chains.ErrMalformed)
	}
}

// TestPrevious reads random transactions, with and without witnesses, as previous ones.
func TestPrevious(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][2]int{{1, 1}, {1, 2}, {3, 300}, {0xfd, 2}, {256, 1}} {
		for _, witnesses := range []bool{false, true} {
			tx := randomTransaction(random, size[0], size[1])
			for _, in := range tx.TxIn {
				in.SignatureScript = randomScript(random)
				if witnesses {
					in.Witness = wire.TxWitness{randomScript(random), randomScript(random)}[:random.IntN(3)]
				}
			}
			if witnesses {
				tx.TxIn[0].Witness = wire.TxWitness{{}}
			}
			raw := serialize(t, func(w *bytes.Buffer) error { return tx.Serialize(w) })
			whole, _, _, _ := encode(smallest('2'), "input", record{[]byte{psbt.InNonWitnessUTXO}, raw})
			packet, err := psbt.Read(whole)
			testenv.Must(t, err)
			previous := packet.Inputs[0].Previous
			longer, _, _, at := encode(smallest('2'), "input", record{[]byte{psbt.InNonWitnessUTXO}, append(raw, 0)})
			_, err = psbt.Read(longer)
			checkRefusal(t, err, "input 0 PSBT_IN_NON_WITNESS_UTXO", at+len(raw), chains.ErrMalformed)
			if previous.ID() != tx.TxHash() {
				t.Errorf("%v: another id", size)
			}
			for i, want := range tx.TxOut {
				amount, script, err := previous.Output(uint32(i))
				if err != nil || amount != uint64(want.Value) || !bytes.Equal(script, want.PkScript) {
					t.Errorf("%v: output %d: %d to %d bytes, %v", size, i, amount, len(script), err)
				}
			}
			for _, beyond := range []uint32{uint32(size[1]), uint32(size[1]) + 1<<8, 1 << 16, 1 << 31, 1<<32 - 1} {
				if _, _, err := previous.Output(beyond); err == nil {
					t.Errorf("%v: there is no output %d", size, beyond)
				}
			}
		}
	}
}

// TestLockTime computes the locktime for every combination of requirements of three
// inputs.
func TestLockTime(t *testing.T) {
	const some = 600_000_000 // a time; heights are below 500,000,000
	requirements := [][2]uint32{{}, {7, 0}, {9, 0}, {0, some}, {0, some + 1}, {8, some}, {7, some + 2}}
	for code := range 7 * 7 * 7 * 2 {
		chosen := [][2]uint32{requirements[code%7], requirements[code/7%7], requirements[code/49%7]}
		fallback := uint32(code / 343 * 5)
		maps := smallest('2')
		maps["global"][1].value = []byte{3}
		raw := []byte("psbt\xff")
		le32 := func(value uint32) []byte { return binary.LittleEndian.AppendUint32(nil, value) }
		if fallback != 0 {
			raw = psbt.AppendRecord(raw, []byte{psbt.GlobalFallbackLocktime}, le32(fallback))
		}
		raw = appendMap(raw, maps["global"])
		for _, require := range chosen {
			if require[0] != 0 {
				raw = psbt.AppendRecord(raw, []byte{psbt.InRequiredHeightLocktime}, le32(require[0]))
			}
			if require[1] != 0 {
				raw = psbt.AppendRecord(raw, []byte{psbt.InRequiredTimeLocktime}, le32(require[1]))
			}
			raw = appendMap(raw, maps["input"])
		}
		raw = appendMap(raw, maps["output"])
		packet, err := psbt.Read(raw)
		want, ok := lockTime(chosen, fallback)
		if (err == nil) != ok || err == nil && packet.LockTime != want {
			t.Errorf("required %v, fallback %d: %v, want %d %v", chosen, fallback, err, want, ok)
		}
	}
}

// lockTime is the rule of BIP-370: the largest value of the first kind, height or time,
// that every input with a requirement has.
func lockTime(inputs [][2]uint32, fallback uint32) (uint32, bool) {
	constrained := false
	for kind := range 2 {
		largest, fits := uint32(0), true
		for _, required := range inputs {
			if required != [2]uint32{} {
				constrained = true
				fits = fits && required[kind] != 0
				largest = max(largest, required[kind])
			}
		}
		if constrained && fits {
			return largest, true
		}
	}
	return fallback, !constrained
}
