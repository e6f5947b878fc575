package solana

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// buildData encodes an instruction with random values, and returns the data and the
// values.
func buildData(random *rand.Rand, tagSize int, words []string) (data []byte, values []string) {
	var tag, sub uint32
	if n, _ := fmt.Sscanf(words[0], "%d.%d", &tag, &sub); n == 2 {
		data = []byte{byte(tag), byte(sub)}
	} else {
		data = binary.LittleEndian.AppendUint32(nil, tag)[:tagSize]
	}
	b := builder{random, data, nil}
	for _, word := range words[1:] {
		b.add(word)
	}
	return b.data, b.values
}

type builder struct {
	*rand.Rand
	data   []byte
	values []string
}

func (b *builder) add(word string) {
	var count, size int
	if n, _ := fmt.Sscanf(word, "choice%dx%d", &count, &size); n == 2 {
		b.number(uint64(b.IntN(count)), size)
		return
	}
	if n, _ := fmt.Sscanf(word, "bytes%d", &size); n == 1 {
		b.values = append(b.values, hex.EncodeToString(b.fill(size)))
		return
	}
	if inner, ok := strings.CutPrefix(word, "opt:"); ok {
		b.optional(inner)
		return
	}
	switch word {
	case "u8", "u16", "u32", "u64":
		fmt.Sscanf(word, "u%d", &size)
		b.number(b.Uint64()>>(64-size), size/8)
	case "bool":
		value := b.IntN(2)
		b.data, b.values = append(b.data, byte(value)), append(b.values, []string{"no", "yes"}[value])
	case "i8":
		value := int8(b.Uint32())
		b.data, b.values = append(b.data, byte(value)), append(b.values, fmt.Sprint(value))
	case "sized":
		size := b.IntN(40) + 1
		b.data = binary.LittleEndian.AppendUint64(b.data, uint64(size))
		b.values = append(b.values, hex.EncodeToString(b.fill(size)))
	case "i16":
		value := int16(b.Uint32())
		b.data = binary.LittleEndian.AppendUint16(b.data, uint16(value))
		b.values = append(b.values, fmt.Sprint(value))
	case "i64":
		value := int64(b.Uint64() >> b.IntN(64))
		b.data = binary.LittleEndian.AppendUint64(b.data, uint64(value))
		b.values = append(b.values, fmt.Sprint(value))
	case "f64":
		value := b.Float64()
		b.data = binary.LittleEndian.AppendUint64(b.data, math.Float64bits(value))
		b.values = append(b.values, fmt.Sprint(value))
	case "key":
		b.values = append(b.values, encode58(b.fill(keySize)))
	case "nzkey":
		if b.IntN(3) > 0 {
			b.add("key")
			return
		}
		b.data, b.values = append(b.data, make([]byte, keySize)...), append(b.values, "none")
	case "keys":
		count := b.IntN(5)
		b.data = binary.LittleEndian.AppendUint64(b.data, uint64(count))
		for range count {
			b.add("key")
		}
	case "string":
		value := strings.Repeat("x", b.IntN(33))
		b.data = append(binary.LittleEndian.AppendUint64(b.data, uint64(len(value))), value...)
		b.values = append(b.values, value)
	case "rest":
		b.data, b.values = append(b.data, "12.5"...), append(b.values, "12.5")
	default:
		panic("no such kind: " + word)
	}
}

func (b *builder) number(value uint64, size int) {
	b.data = append(b.data, binary.LittleEndian.AppendUint64(nil, value)[:size]...)
	b.values = append(b.values, fmt.Sprint(value))
}

func (b *builder) fill(size int) []byte {
	begin := len(b.data)
	for range size {
		b.data = append(b.data, byte(b.Uint32()))
	}
	return b.data[begin:]
}

func (b *builder) optional(inner string) {
	if b.IntN(2) == 0 {
		b.data, b.values = append(b.data, 0), append(b.values, "none")
		return
	}
	b.data = append(b.data, 1)
	b.add(inner)
}
