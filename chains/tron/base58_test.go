package tron

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// TestBase58 holds our decoder against btcd's, on addresses and on texts that
// are off by one character.
func TestBase58(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var want address
		for i := range want {
			want[i] = byte(random.Uint32())
		}
		text := want.String()
		if got, err := readAll(text); err != nil || got != want {
			t.Fatalf("%s: %x, %v, want %x", text, got, err, want)
		}
		at := random.IntN(len(text))
		slip := text[:at] + string(base58Alphabet[random.IntN(58)]) + text[at+1:]
		payload, version, err := base58.CheckDecode(slip)
		theirs := err == nil && version == addressPrefix && len(payload) == 20
		got, err := readAll(slip)
		if (err == nil) != theirs || err == nil && got != address(payload) {
			t.Fatalf("%s: %x, %v, btcd says %x", slip, got, err, payload)
		}
	}
	for _, text := range []string{"", "1", "T", strings.Repeat("z", 34), strings.Repeat("z", 60), strings.Repeat("1", 34)} {
		if got, err := readAll(text); err == nil {
			t.Errorf("%q: %x", text, got)
		}
	}
}

// readAll reads an address with all its checks.
func readAll(text string) (address, error) {
	meant := signWith{text: text}
	if err := meant.readBase58(); err != nil {
		return address{}, err
	}
	return meant.address(), meant.checkSpelling()
}

// TestBase58TooLong: numbers that come out as an address in as many bits as the
// decoder has.
func TestBase58TooLong(t *testing.T) {
	const text = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
	number := new(big.Int).SetBytes(base58.Decode(text))
	for _, bits := range []uint{200, 223, 224, 256, 400} {
		long := new(big.Int).Add(number, new(big.Int).Lsh(big.NewInt(1), bits))
		if decoded, err := decodeBase58(base58.Encode(long.Bytes())); err != errBase58Length {
			t.Errorf("with bit %d: %x, %v", bits, decoded, err)
		}
	}
	if _, err := decodeBase58(text); err != nil {
		t.Error(err)
	}
}
