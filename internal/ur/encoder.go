package ur

import (
	"fmt"
	"hash/crc32"
)

// minFragment is the shortest fragment.
const minFragment = 10

// Encoder generates the codes of a message.
type Encoder struct {
	message   Message
	checksum  uint32
	fragment  int // bytes
	fragments [][]byte
	choose    *chooser
	number    uint32
}

// NewEncoder splits a message into the fewest fragments of at most maxFragment bytes. A
// message that fits into one fragment is a single code, which is repeated.
func NewEncoder(message Message, maxFragment int) (*Encoder, error) {
	length := len(message.CBOR)
	switch {
	case !validType(message.Type):
		return nil, fmt.Errorf("ur: invalid type %q", shorten(message.Type))
	case length == 0 || length > MaxMessage:
		return nil, fmt.Errorf("ur: a message of %d bytes: it must have 1 to %d", length, MaxMessage)
	case maxFragment < minFragment:
		return nil, fmt.Errorf("ur: fragments of %d bytes: they must have at least %d", maxFragment, minFragment)
	}
	fragment := nominalFragment(length, maxFragment)
	count := ceil(length, fragment)
	if count > MaxParts {
		return nil, fmt.Errorf("ur: %d bytes take %d parts, at most %d are supported: use larger codes", length, count, MaxParts)
	}
	e := &Encoder{message: message, checksum: crc32.ChecksumIEEE(message.CBOR), fragment: fragment}
	for start := 0; start < length; start += fragment {
		padded := make([]byte, fragment)
		copy(padded, message.CBOR[start:])
		e.fragments = append(e.fragments, padded)
	}
	e.choose = newChooser(count, e.checksum)
	return e, nil
}

// nominalFragment returns the length of the fewest fragments of at most limit bytes,
// all about equally long.
func nominalFragment(length, limit int) int { return ceil(length, ceil(length, limit)) }

func ceil(a, b int) int { return (a + b - 1) / b }

// Parts returns the number of fragments, which is how many codes carry the message if
// none is missed.
func (e *Encoder) Parts() int { return len(e.fragments) }

// Number returns the number of the last code, from 1; 0 before the first.
func (e *Encoder) Number() uint32 { return e.number }

// maxNumber bounds the numbers of parts, and so the length of their text. Reaching it takes hours.
const maxNumber = 1<<16 - 1

// Next returns the next code in lower case.
func (e *Encoder) Next() string {
	if len(e.fragments) == 1 {
		e.number = 1
		return e.message.String()
	}
	e.number++
	if e.number > maxNumber {
		e.number = 1
	}
	return e.part(e.number).text(e.message.Type)
}

func (e *Encoder) part(number uint32) *part {
	data := make([]byte, e.fragment)
	for _, index := range e.choose.choose(number) {
		mix(data, e.fragments[index])
	}
	count, length := uint32(len(e.fragments)), uint32(len(e.message.CBOR)) //nolint:gosec // bounded by NewEncoder
	return &part{Number: number, Count: count, Length: length, Checksum: e.checksum, Data: data}
}

// MaxFragment returns the longest fragment whose parts have at most the given number of
// characters. It is not positive if there is none.
func MaxFragment(kind string, characters int) int {
	const numbers = len("65535-2048") + len("/") // MaxParts
	// Bytes around a fragment in its part: the array, the number, the count, the
	// length, the checksum, the length of the data; and the CRC-32 of it all.
	const around = 1 + 3 + 3 + 5 + 5 + 3 + crc32.Size
	return (characters-len(scheme)-len(kind)-len("/")-numbers)/2 - around
}
