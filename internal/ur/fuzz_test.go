package ur

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzCollector feeds lines to a collector. What it accepts is within bounds, and
// is the same message when it is carried again.
func FuzzCollector(f *testing.F) {
	encoder := encoderOf(f, Message{TypePSBT, randomMessage(300)}, 60)
	f.Add(strings.Join(generate(7, encoder.Next), "\n"))
	f.Add(Message{TypeEthSignRequest, []byte{0xa0}}.String())
	f.Add("B$2P0200ABCD\nB$2P0201ABCD")
	f.Add("B$ZJ0100KUFQA")
	f.Fuzz(func(t *testing.T, lines string) {
		collector := NewCollector(TypePSBT, TypeEthSignRequest, TypeSolSignRequest, TypeTronSignRequest, TypeJSON, TypeRequest, TypeVote, TypeAnswer)
		for line := range strings.SplitSeq(lines, "\n") {
			_ = collector.Add(line)
		}
		m, ok := collector.Message()
		if !ok {
			return
		}
		if len(m.CBOR) > MaxMessage+9 {
			t.Fatalf("a message of %d bytes", len(m.CBOR))
		}
		again := NewCollector(m.Type)
		if err := again.Add(m.String()); len(m.CBOR) < MaxText/2-100 && err != nil {
			t.Fatal(err)
		}
		if got, ok := again.Message(); ok && !bytes.Equal(got.CBOR, m.CBOR) {
			t.Fatal("another message the second time")
		}
		readAll(m)
	})
}

// readAll reads a message as each of the types.
func readAll(m Message) {
	_, _ = DecodeRequest(m)
	_, _ = DecodeVote(m)
	_, _ = DecodeAnswer(m)
	_, _ = DecodePSBT(m)
	_, _ = DecodeEthSignRequest(m)
	_, _ = DecodeSolSignRequest(m)
	_, _ = DecodeTronSignRequest(m)
}

// FuzzTypes reads CBOR as each of the types. What is read as one of ours is
// written the same.
func FuzzTypes(f *testing.F) {
	f.Add(Request{[]byte("{}"), "X-Stamp", "abc"}.Message().CBOR)
	f.Add(Answer{make([]byte, 32), []byte{1}, &Proof{[]byte{4}, "{}", []byte{5}}, nil}.Message().CBOR)
	f.Add(Answer{Fingerprint: make([]byte, 32), Signatures: [][]byte{make([]byte, SignatureSize), make([]byte, SignatureSize)}}.Message().CBOR)
	f.Add(EthSignRequest{ID: make(UUID, 16), Data: []byte{2}, Kind: 4, ChainID: 1, Address: make([]byte, 20), Path: Keypath{Path: []PathIndex{{44, true}, {0, false}}, Fingerprint: 1}}.Message().CBOR)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []string{TypeRequest, TypeVote, TypeAnswer, TypePSBT, TypeEthSignRequest, TypeSolSignRequest, TypeTronSignRequest} {
			readAll(Message{kind, data})
		}
		if r, err := DecodeRequest(Message{TypeRequest, data}); err == nil && !bytes.Equal(r.Message().CBOR, data) {
			t.Fatal("a request has two encodings")
		}
		if v, err := DecodeVote(Message{TypeVote, data}); err == nil && !bytes.Equal(v.Message().CBOR, data) {
			t.Fatal("a vote has two encodings")
		}
		if a, err := DecodeAnswer(Message{TypeAnswer, data}); err == nil && !bytes.Equal(a.Message().CBOR, data) {
			t.Fatal("an answer has two encodings")
		}
	})
}
