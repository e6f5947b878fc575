package fuzz

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/testkit/tape"
)

// protoMessage is a message as a list of fields, in any order and number.
type protoMessage []protoField

type protoField struct {
	number  protowire.Number
	kind    protowire.Type
	varint  uint64
	bytes   []byte // of a length-delimited field
	inner   protoMessage
	isInner bool

	longTag, longValue bool // a varint with a byte more than it takes
}

// readProto splits a message, and the nested messages that path leads to.
func readProto(raw []byte, path ...protowire.Number) protoMessage {
	var message protoMessage
	for len(raw) > 0 {
		number, kind, size := protowire.ConsumeTag(raw)
		raw = raw[size:]
		field := protoField{number: number, kind: kind}
		if kind == protowire.VarintType {
			field.varint, size = protowire.ConsumeVarint(raw)
		} else {
			field.bytes, size = protowire.ConsumeBytes(raw)
		}
		if len(path) > 0 && number == path[0] {
			field.inner, field.isInner = readProto(field.bytes, path[1:]...), true
		}
		message, raw = append(message, field), raw[size:]
	}
	return message
}

func (m protoMessage) encode() (out []byte) {
	for _, field := range m {
		out = appendVarint(out, protowire.EncodeTag(field.number, field.kind), field.longTag)
		switch field.kind {
		case protowire.VarintType:
			out = appendVarint(out, field.varint, field.longValue)
		case protowire.Fixed32Type:
			out = protowire.AppendFixed32(out, uint32(field.varint))
		case protowire.Fixed64Type:
			out = protowire.AppendFixed64(out, field.varint)
		default:
			content := field.bytes
			if field.isInner {
				content = field.inner.encode()
			}
			out = append(appendVarint(out, uint64(len(content)), field.longValue), content...)
		}
	}
	return out
}

// appendVarint appends a varint, with a redundant byte if long.
func appendVarint(out []byte, number uint64, long bool) []byte {
	out = protowire.AppendVarint(out, number)
	if long {
		out[len(out)-1] |= 0x80
		out = append(out, 0)
	}
	return out
}

// Where messages lie within raw_data: contract, parameter (an Any), its value.
var tronPath = []protowire.Number{11, 2, 2}

// FuzzTronStructure splits a transaction into its fields, down to those of the
// contract in the Any, and changes one of them. What Protocol Buffers allows but no
// encoder writes is refused; what is accepted is what Google's implementation writes,
// and is signed unchanged.
func FuzzTronStructure(f *testing.F) {
	addChoices(f)
	transactions := tronSeeds(f)
	tronProtocol()
	key := tronKey(f)
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > maxChoices {
			return
		}
		choose := tape.New(choices)
		seed := tape.Pick(choose, transactions...)
		message := readProto(seed, tronPath...)
		if again := message.encode(); !bytes.Equal(again, seed) {
			t.Fatalf("taken apart %x, put together %x", seed, again)
		}
		rule := ""
		for first := true; first || choose.More(); first = false {
			if broken := changeProto(choose, &message); broken != "" {
				rule = broken
				break // a further change might mend it
			}
		}
		checkTronChanged(t, message.encode(), rule, func(tx chains.Transaction, raw []byte) {
			checkTronCanonical(t, raw)
			tx.Summary().Digest()
			showEverything(t, tx, key)
			checkTronSigned(t, tx, key, raw)
		})
	})
}

func checkTronChanged(t *testing.T, raw []byte, rule string, accepted func(chains.Transaction, []byte)) {
	t.Helper()
	tx, err := tron.New(tron.Limits{}).Parse(raw)
	refused, ok := errors.AsType[*chains.ParseError](err)
	switch {
	case err == nil && rule != "":
		t.Fatalf("%s: %x is accepted", rule, raw)
	case err == nil:
		accepted(tx, raw)
	case !ok || refused.Problem == "" || refused.Offset > len(raw):
		t.Fatalf("%#v", err)
	}
}

// changeProto changes a field of one of the messages. It returns the rule that this
// breaks in any message, or nothing if that depends on the message.
func changeProto(choose *tape.Tape, message *protoMessage) (rule string) {
	for {
		inner := slices.IndexFunc(*message, func(field protoField) bool { return field.isInner })
		if inner < 0 || choose.OneIn(3) {
			break
		}
		message = &(*message)[inner].inner
	}
	m := *message
	if len(m) == 0 {
		*message = protoMessage{{number: 1000, kind: protowire.VarintType, varint: 1}}
		return "an unknown field"
	}
	i := choose.Intn(len(m))
	switch choose.Intn(9) {
	case 0:
		field := protoField{number: 1000 + protowire.Number(choose.Byte()), kind: tape.Pick(choose, protowire.VarintType, protowire.BytesType, protowire.Fixed64Type)}
		*message = slices.Insert(m, choose.Intn(len(m)+1), field)
		return "an unknown field"
	case 1:
		m[i].longTag = true
		return "a tag in more bytes than it takes"
	case 2:
		m[i].longValue = true
		return "a number or a length in more bytes than it takes"
	case 3:
		return swapFields(m, i, choose.Intn(len(m)))
	case 4:
		m[i].kind = tape.Pick(choose, protowire.Fixed32Type, protowire.Fixed64Type)
		return "a wire type that no field here has"
	case 5: // a repeated field may come again
		*message = slices.Insert(m, i, m[i])
	case 6: // an optional field may be left out
		*message = slices.Delete(slices.Clone(m), i, i+1)
	case 7:
		m[i].varint = choose.Uint64()
	case 8:
		m[i].isInner, m[i].bytes = false, choose.Bytes(choose.Intn(48))
	}
	return ""
}

// swapFields swaps two fields. In ascending order, only fields of the same number may
// be swapped.
func swapFields(m protoMessage, i, j int) (rule string) {
	m[i], m[j] = m[j], m[i]
	if m[i].number != m[j].number {
		return "fields out of order"
	}
	return ""
}
