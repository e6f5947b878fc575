package ur

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/fxamacker/cbor/v2"
)

// encoding writes deterministic CBOR (RFC 8949, section 4.2): shortest forms, sorted
// keys, definite lengths.
var encoding = must(cbor.CoreDetEncOptions().EncMode())

// decoding reads CBOR strictly.
var decoding = must(cbor.DecOptions{
	DupMapKey:         cbor.DupMapKeyEnforcedAPF,
	IndefLength:       cbor.IndefLengthForbidden,
	ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	MaxNestedLevels:   8,
	MaxMapPairs:       64,
	MaxArrayElements:  256,
	UTF8:              cbor.UTF8RejectInvalid,
	TagsMd:            cbor.TagsAllowed,
}.DecMode())

func must[T any](mode T, err error) T {
	if err != nil {
		panic("ur: options of CBOR: " + err.Error())
	}
	return mode
}

var errEncoding = errors.New("the CBOR is not deterministic: shortest forms and sorted keys are required")

func marshal(value any) []byte {
	data, err := encoding.Marshal(value)
	if err != nil {
		panic("ur: marshal: " + err.Error())
	}
	return data
}

// unmarshal decodes a value strictly. It accepts only the deterministic encoding.
func unmarshal(data []byte, value any) error {
	if err := decoding.Unmarshal(data, value); err != nil {
		return err
	}
	if !bytes.Equal(marshal(value), data) {
		return errEncoding
	}
	return nil
}

// Bytes is a byte string of another program. Unlike []byte, it is not read from an array
// of integers.
type Bytes []byte

func (b *Bytes) UnmarshalCBOR(data []byte) error {
	const byteString = 2 // the major type
	if data[0]>>5 != byteString {
		return errors.New("expected a byte string")
	}
	return decoding.Unmarshal(data, (*[]byte)(b))
}

func decode(m Message, value any, types ...string) error {
	return decodeBy(unmarshal, m, value, types...)
}

// decodeForeign decodes a message of another program: strictly, but with keys in any order.
func decodeForeign(m Message, value any, kind string) error {
	return decodeBy(decoding.Unmarshal, m, value, kind)
}

func decodeBy(read func(data []byte, value any) error, m Message, value any, types ...string) error {
	if !slices.Contains(types, m.Type) {
		return &TypeError{Seen: m.Type, Taken: types}
	}
	if err := read(m.CBOR, value); err != nil {
		return fmt.Errorf("ur:%s: %w", m.Type, err)
	}
	return nil
}
