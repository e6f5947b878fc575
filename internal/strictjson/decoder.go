package strictjson

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Decoder reads a text in place. It keeps the room in which it compares the names of members
// for the next text.
type Decoder struct {
	jsontext.Decoder
	text bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// NewDecoder returns a decoder of a text, which must not change until Free.
func NewDecoder(text []byte) *Decoder {
	d := decoders.Get().(*Decoder)
	d.text = *bytes.NewBuffer(text)
	d.Reset(&d.text)
	return d
}

// Free ends the use of the decoder.
func (d *Decoder) Free() { decoders.Put(d) }
