package evm

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// TestChecksums compares the text of addresses with go-ethereum's, many of which share a slot,
// from several goroutines at once. A letter in the other case is refused.
func TestChecksums(t *testing.T) {
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 5000 {
				var a Address
				binary.BigEndian.PutUint64(a[:], r.Uint64N(50))
				a[19] = byte(r.IntN(2))
				text := a.String()
				if want := common.Address(a).Hex(); text != want {
					t.Errorf("%s, go-ethereum has %s", text, want)
				}
				digits := []byte(text[2:])
				if !ChecksumFits(string(digits), a) {
					t.Errorf("%s: does not fit", text)
				}
				at := r.IntN(len(digits))
				digits[at] ^= 0x20
				other := string(digits)
				mixed := strings.ToLower(other) != other && strings.ToUpper(other) != other
				if isLetter := digits[at] >= 'A'; isLetter && mixed && ChecksumFits(other, a) {
					t.Errorf("%s: fits", other)
				}
			}
		})
	}
	group.Wait()
}

// TestKeccak256 compares inputs of every length around the block with go-ethereum's, whole and
// in parts.
func TestKeccak256(t *testing.T) {
	long := bytes.Repeat([]byte("countersign"), 40)
	for size := range len(long) {
		want := crypto.Keccak256(long[:size])
		whole, parts := Keccak256(long[:size]), Keccak256(long[:size/3], nil, long[size/3:size])
		if text := Keccak256(string(long[:size])); !bytes.Equal(whole[:], want) || parts != whole || text != whole {
			t.Errorf("%d bytes: %x, %x, %x, want %x", size, whole, parts, text, want)
		}
	}
}
