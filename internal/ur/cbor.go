package ur

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// encoding writes deterministic CBOR (RFC 8949, 4.2): the shortest forms, sorted
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

// errEncoding says that CBOR is not in its deterministic form.
var errEncoding = errors.New("CBOR is not deterministic: shortest forms and sorted keys are expected")

// marshal encodes a value of this package.
func marshal(value any) []byte {
	data, err := encoding.Marshal(value)
	if err != nil {
		panic("ur: a value of ours always marshals: " + err.Error())
	}
	return data
}

// unmarshal reads a value strictly. There is one encoding of a value, and no
// other is taken.
func unmarshal(data []byte, value any) error {
	if err := decoding.Unmarshal(data, value); err != nil {
		return err
	}
	if !bytes.Equal(marshal(value), data) {
		return errEncoding
	}
	return nil
}

// decode reads the CBOR of a message of a type into a value.
func decode(m Message, value any, types ...string) error {
	for _, kind := range types {
		if m.Type == kind {
			if err := unmarshal(m.CBOR, value); err != nil {
				return fmt.Errorf("ur:%s: %w", m.Type, err)
			}
			return nil
		}
	}
	return &TypeError{Seen: m.Type, Taken: types}
}

// decodeForeign reads a message that another program encoded: strictly, but with
// its keys in whatever order.
func decodeForeign(m Message, value any, kind string) error {
	if m.Type != kind {
		return &TypeError{Seen: m.Type, Taken: []string{kind}}
	}
	if err := decoding.Unmarshal(m.CBOR, value); err != nil {
		return fmt.Errorf("ur:%s: %w", m.Type, err)
	}
	return nil
}
