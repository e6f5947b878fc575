package ur

import (
	"encoding/hex"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// vectors are those of every layer in BCR-2024-001.
type vectors struct {
	Numbers   [][]int  `json:"numbers"`
	Samples   []int    `json:"samples"`
	Degrees   []int    `json:"degrees"`
	Fragments []string `json:"fragments"`
	Shuffled  [][]int  `json:"shuffled"`
	Chosen    [][]int  `json:"chosen"`
	Parts     []string `json:"parts"`
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, "testdata/bcr-2024-001.json"), &v)
	return v
}

// randomMessage is the makeMessage of the specification.
func randomMessage(length int) []byte {
	from := newRandom([]byte("Wolf"))
	message := make([]byte, length)
	for i := range message {
		message[i] = byte(from.below(256))
	}
	return message
}

func generate[T any](count int, next func() T) []T {
	out := make([]T, count)
	for i := range out {
		out[i] = next()
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestVectors compares each layer with the vectors of BCR-2024-001. They hold on
// every architecture: see TestVectorsOnARM64.
func TestVectors(t *testing.T) {
	v := readVectors(t)
	wolf, sum := newRandom([]byte("Wolf")), newRandom([]byte{0x59, 0x8c, 0x84, 0xdc})
	if crc32.ChecksumIEEE([]byte("Wolf")) != 0x598c84dc {
		t.Error("CRC-32 is another")
	}
	same(t, "xoshiro256**", generate(100, func() int { return int(wolf.next() % 100) }), v.Numbers[0])
	same(t, "xoshiro256** of a checksum", generate(100, func() int { return int(sum.next() % 100) }), v.Numbers[1])
	wolf = newRandom([]byte("Wolf"))
	same(t, "integers", generate(100, func() int { return 1 + wolf.below(10) }), v.Numbers[2])
	wolf = newRandom([]byte("Wolf"))
	weighted := newSampler([]float64{1, 2, 4, 8})
	same(t, "sampler", generate(500, func() int { return weighted.draw(wolf) }), v.Samples)

	message := randomMessage(1024)
	encoder := encoderOf(t, Message{"bytes", message}, 100)
	fragments := make([]string, 0, len(encoder.fragments))
	for _, fragment := range encoder.fragments {
		fragments = append(fragments, hex.EncodeToString(fragment))
	}
	same(t, "fragments", fragments, v.Fragments)
	wolf = newRandom([]byte("Wolf"))
	same(t, "degrees", generate(1000, func() int { return encoder.choose.degrees.draw(wolf) + 1 }), v.Degrees)
	for i, want := range v.Shuffled {
		shuffled := slices.Clone(newChooser(10, 0).shuffle(i+1, newRandom([]byte("Wolf"))))
		for j := range shuffled {
			shuffled[j]++
		}
		same(t, "shuffle", shuffled, want)
	}
	for i, want := range v.Chosen {
		chosen := slices.Sorted(slices.Values(encoder.choose.choose(uint32(i + 1))))
		same(t, "chosen fragments", chosen, want)
	}
}

func TestPartVectors(t *testing.T) {
	encoder := encoderOf(t, Message{"bytes", randomMessage(256)}, 30)
	for i, want := range readVectors(t).Parts {
		if got := hex.EncodeToString(marshal(encoder.part(uint32(i + 1)))); got != want {
			t.Errorf("part %d is %s, want %s", i+1, got, want)
		}
	}
	one := &part{Number: 12, Count: 8, Length: 100, Checksum: 0x12345678, Data: []byte{1, 5, 3, 3, 5}}
	if got := hex.EncodeToString(marshal(one)); got != "850c0818641a12345678450105030305" {
		t.Errorf("part is %s", got)
	}
}

// TestBytewords has every pair of bytes: 256 of them are words, each of another value.
func TestBytewords(t *testing.T) {
	seen := map[byte]string{}
	for pair := range 1 << 16 {
		word := string([]byte{byte(pair >> 8), byte(pair)})
		value := strings.Index(letters, word)
		for value%2 == 1 { // the end of a word and the beginning of the next one
			next := strings.Index(letters[value+1:], word)
			if next < 0 {
				value = -1
				break
			}
			value += 1 + next
		}
		valid := word
		if value < 0 {
			valid = "ae"
		}
		text := string(appendBytewords(nil, []byte{byte(max(value, 0) / 2)}))
		data, err := decodeBytewords(strings.Replace(text, valid, word, 1))
		switch {
		case value < 0 && (err == nil || !strings.Contains(err.Error(), "is not a word")):
			t.Errorf("%q: %x, %v", word, data, err)
		case value >= 0 && (err != nil || data[0] != byte(value/2)):
			t.Errorf("%q: %x, %v", word, data, err)
		case value >= 0:
			seen[data[0]] = word
		}
	}
	if len(seen) != 256 {
		t.Errorf("%d words", len(seen))
	}
}

// TestDamage changes each word of a text to each other word.
func TestDamage(t *testing.T) {
	text := string(appendBytewords(nil, []byte{0, 1, 0x80, 0xff}))
	for at := 0; at < len(text); at += 2 {
		for word := 0; word < len(letters); word += 2 {
			changed := text[:at] + letters[word:word+2] + text[at+2:]
			if _, err := decodeBytewords(changed); (err == nil) != (changed == text) || err != nil && err != ErrChecksum {
				t.Errorf("%s: %v", changed, err)
			}
		}
	}
	for length := range len(text) {
		if _, err := decodeBytewords(text[:length]); err == nil {
			t.Errorf("%s: accepted", text[:length])
		}
	}
	if data, err := decodeBytewords(string(appendBytewords(nil, nil))); err != nil || len(data) != 0 {
		t.Errorf("of no bytes: %x, %v", data, err)
	}
}

// TestFragmentLength checks the vectors of BCR-2024-001.
func TestFragmentLength(t *testing.T) {
	if got := nominalFragment(12_345, 1_955); got != 1_764 {
		t.Errorf("%d bytes, want 1764", got)
	}
	if got := nominalFragment(12_345, 30_000); got != 12_345 {
		t.Errorf("%d bytes, want 12345", got)
	}
}

// TestSpecificationExamples reads the examples of BCR-2020-005.
func TestSpecificationExamples(t *testing.T) {
	c := NewCollector("seed")
	testenv.Must(t, c.Add("UR:SEED/OYADGDSTASLPLABGHYDRPFMKBGGUFGLUDPRFGMAMDPWMOX"))
	got, ok := c.Message()
	if !ok || hex.EncodeToString(got.CBOR) != "a10150c7098580125e2ab0981253468b2dbc52" {
		t.Errorf("the seed is %x", got.CBOR)
	}
	if got.String() != "ur:seed/oyadgdstaslplabghydrpfmkbggufgludprfgmamdpwmox" {
		t.Errorf("written as %s", got)
	}
}
