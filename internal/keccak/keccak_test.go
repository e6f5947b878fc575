package keccak

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
)

// The digests of the empty string and of "abc" are those of the Keccak team's
// submission (c=512, before SHA-3 changed the padding).
func TestKnownDigests(t *testing.T) {
	for text, want := range map[string]string{
		"":    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
		"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
	} {
		if digest := Sum256([]byte(text)); hex.EncodeToString(digest[:]) != want {
			t.Errorf("%q: %x, want %s", text, digest, want)
		}
	}
}

// Every length around the block and buffer sizes, whole and in parts.
func TestAgainstGoEthereum(t *testing.T) {
	for length := range 3400 {
		data := bytes.Repeat([]byte{byte(length), 1, 2}, length/3+1)[:length]
		want := crypto.Keccak256(data)
		if digest := Sum256(data); !bytes.Equal(digest[:], want) {
			t.Fatalf("%d bytes: %x, want %x", length, digest, want)
		}
		if digest := Sum256(data[:length/3], data[length/3:], nil); !bytes.Equal(digest[:], want) {
			t.Fatalf("%d bytes in parts: %x, want %x", length, digest, want)
		}
	}
}
