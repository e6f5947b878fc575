package solana

import (
	"bytes"
	"crypto/ed25519"
	"math/rand/v2"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestDecodeKey compares both directions with solana-go.
func TestDecodeKey(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		var key [keySize]byte
		for i := random.IntN(keySize); i < keySize; i++ {
			key[i] = byte(random.Uint32() * (random.Uint32() % 2)) // many zeros
		}
		text := encode58(key[:])
		if theirs := sdk.PublicKey(key).String(); text != theirs {
			t.Fatalf("%x is %s, solana-go says %s", key, text, theirs)
		}
		if got, ok := decodeKey(text); !ok || got != key {
			t.Fatalf("%s: got %x, %v; want %x", text, got, ok, key)
		}
	}
}

// TestDecodeKeyIsCanonical checks that only a value's one base58 form is accepted.
func TestDecodeKeyIsCanonical(t *testing.T) {
	text := encode58(bytes.Repeat([]byte{0xff}, keySize))
	for i := range len(text) {
		for c := range 256 {
			changed := text[:i] + string([]byte{byte(c)}) + text[i+1:]
			if key, ok := decodeKey(changed); ok && encode58(key[:]) != changed {
				t.Errorf("%q is read as %s", changed, encode58(key[:]))
			}
		}
	}
	for _, bad := range []string{"", "1", strings.Repeat("1", 31), strings.Repeat("1", 33), strings.Repeat("z", 44), text + "1", "1" + text} {
		if _, ok := decodeKey(bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestSmallOrderPoints checks that with a point of small order as the public key, some
// trivial signatures pass the lenient verification and none passes the strict one.
func TestSmallOrderPoints(t *testing.T) {
	points := [][]byte{
		append([]byte{1}, make([]byte, 31)...),                                                 // the identity
		chaintest.Unhex(t, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), // order 8
		chaintest.Unhex(t, "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // the identity, not reduced
	}
	for _, key := range points {
		passed := 0
		for _, r := range points {
			for message := range 64 {
				signature := append(bytes.Clone(r), make([]byte, 32)...)
				if ed25519.Verify(key, []byte{byte(message)}, signature) {
					passed++
				}
				if verifyStrict(key, []byte{byte(message)}, signature) {
					t.Errorf("%x: the strict verification accepted %x", key, signature)
				}
			}
		}
		if passed == 0 {
			t.Errorf("%x is not of small order", key)
		}
	}
	pub, private, err := ed25519.GenerateKey(nil)
	testenv.Must(t, err)
	if message := []byte("message"); !verifyStrict(pub, message, ed25519.Sign(private, message)) {
		t.Error("an honest signature was refused")
	}
}

func TestPriorityFee(t *testing.T) {
	tests := []struct{ limit, price, want uint64 }{
		{0, 0, 0}, {1, 1, 1}, {1_000_000, 1, 1}, {200_000, 5, 1}, {200_000, 6, 2},
		{1_400_000, 1_000_000, 1_400_000}, {1 << 32, 1_000_000, 1 << 32}, {1_400_000, 1<<64 - 1, 1<<64 - 1},
	}
	for _, test := range tests {
		if got := priorityFee(test.limit, test.price); got != test.want {
			t.Errorf("%d units at %d: got %d, want %d", test.limit, test.price, got, test.want)
		}
	}
}
