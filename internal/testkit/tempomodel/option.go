package tempomodel

import (
	"io"

	"github.com/ethereum/go-ethereum/rlp"
)

// Option is a field that may be absent, which is encoded as 80. An empty list is
// present: its encoding is c0.
type Option[T any] struct {
	Present bool
	Value   T
}

// Some returns a field that is present.
func Some[T any](value T) Option[T] { return Option[T]{Present: true, Value: value} }

// EncodeRLP implements rlp.Encoder.
func (o Option[T]) EncodeRLP(out io.Writer) error {
	if !o.Present {
		_, err := out.Write(rlp.EmptyString)
		return err
	}
	return rlp.Encode(out, o.Value)
}

// DecodeRLP implements rlp.Decoder.
func (o *Option[T]) DecodeRLP(in *rlp.Stream) error {
	kind, size, err := in.Kind()
	if err != nil {
		return err
	}
	if kind == rlp.String && size == 0 {
		_, err := in.Raw()
		return err
	}
	o.Present = true
	return in.Decode(&o.Value)
}
