package bitcoin

import (
	"bytes"
	"crypto/rc4" //nolint:gosec // Counterparty hides its mark with it; nothing is kept secret here
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
)

// The marks of protocols that keep tokens and instructions in Bitcoin's outputs.
const (
	markOmni         = "omni"
	markStacks       = "X2" // of mainnet; the operation follows, such as $ for a transfer
	markCounterparty = "CNTRPRTY"
	markStamps       = "stamp:" // of SRC-20
)

// overlays are the protocols whose instructions are recognized, wherever in the
// transaction they stand and however their mark is pushed: in a script, or in what an OP_RETURN output
// pushes. What an instruction does to the tokens in the inputs is not decoded.
var overlays = []struct {
	name    string
	matches func(m *marks, script, returned []byte) bool
}{
	{"runestone", func(_ *marks, script, _ []byte) bool {
		return bytes.HasPrefix(script, []byte{txscript.OP_RETURN, txscript.OP_13})
	}},
	{"omni", func(_ *marks, script, returned []byte) bool {
		return bytes.HasPrefix(returned, []byte(markOmni)) || bytes.Equal(script, exodus)
	}},
	{"stacks", func(_ *marks, _, returned []byte) bool { return bytes.HasPrefix(returned, []byte(markStacks)) }},
	{"counterparty", (*marks).isCounterparty},
	{"stamps", func(m *marks, script, _ []byte) bool { // in what stands for a script hash, or for keys
		return classify(script) == p2wsh && bytes.HasPrefix(script[4:], []byte(markStamps)) ||
			classify(script) == bareMultisig && m.hides(markStamps, firstPush(script)[1:], 2)
	}},
}

// exodus is the output that Omni's instructions of classes A and B pay to: their data is
// in the other outputs.
var exodus = func() []byte {
	script, err := scriptOf("1EXoDusjGwvnjZUyKkxZ4UHEf77z6A5S4P", networks[Mainnet].params)
	if err != nil {
		panic(err)
	}
	return script
}()

// marks recognizes protocols in the outputs of a transaction.
type marks struct {
	first [32]byte // the id of the first transaction that is spent
	notes int      // the texts that were judged
	said  []byte   // all of them, one after the other, as some services read them
	key   []byte   // the start of the key stream under which marks are hidden, once it is known
}

// maxNotes is how many texts of a transaction are judged: each takes up to a millisecond.
const maxNotes = 8

// protocol returns the protocol that an output instructs, empty if it instructs none. Data that is
// neither a note nor a digest, which proves a time, is for some program to act on.
func (m *marks) protocol(script []byte) string {
	data, whole := returnedData(script)
	for _, protocol := range overlays {
		if protocol.matches(m, script, data) {
			return protocol.name
		}
	}
	if size := len(data); whole && (size == 0 || size == sha256.Size && plaintext.Problem(data) != "") {
		return ""
	}
	m.said = append(m.said, data...)
	if m.notes++; whole && m.notes <= maxNotes && texts.IsNote(data) && texts.IsNote(m.said) {
		return ""
	}
	return "an unknown protocol"
}

// returnedData returns what an OP_RETURN output pushes, nothing of any other, and whether it does no more.
func returnedData(script []byte) (data []byte, whole bool) {
	if len(script) == 0 || script[0] != txscript.OP_RETURN {
		return nil, true
	}
	whole = true
	return data, pushes(script[1:], func(op byte, push []byte) bool {
		data, whole = append(data, push...), whole && op <= txscript.OP_PUSHDATA4
		return false
	}) && whole
}

// isCounterparty reports whether an output carries Counterparty's mark: at the start of OP_RETURN
// data, or behind a length in what stands for a key hash, or for the first key of a multisig behind its
// first byte.
func (m *marks) isCounterparty(script, returned []byte) bool {
	switch classify(script) {
	case p2pkh:
		return m.hides(markCounterparty, script[3:23], 1)
	case bareMultisig:
		return m.hides(markCounterparty, firstPush(script)[1:], 1)
	}
	return m.hides(markCounterparty, returned, 0)
}

// hides reports whether data has a mark at an offset, encrypted with RC4 under the id of the first
// transaction that is spent.
func (m *marks) hides(mark string, data []byte, offset int) bool {
	if len(data) < offset+len(mark) {
		return false
	}
	if m.key == nil {
		id := m.first
		slices.Reverse(id[:])             // as displayed
		cipher, _ := rc4.NewCipher(id[:]) // 32 bytes is a valid length
		m.key = make([]byte, 1+len(markCounterparty))
		cipher.XORKeyStream(m.key, m.key)
	}
	for i := range len(mark) {
		if data[offset+i]^m.key[offset+i] != mark[i] {
			return false
		}
	}
	return true
}
