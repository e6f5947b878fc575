package bip137_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

const prefix = "\x18Bitcoin Signed Message:\n"

// TestParse has preimages at the bounds of the length's forms, and lengths that are wrong
// or not the shortest.
func TestParse(t *testing.T) {
	for _, size := range []int{0, 1, 252, 253, 1000, 65535, 65536} {
		if _, err := bip137.Parse(bip137.Preimage(bytes.Repeat([]byte("x"), size)), bitcoin.Chain{}); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	for name, test := range map[string]struct{ raw, want string }{
		"nothing":        {"", "expected the preimage"},
		"another prefix": {"\x19Ethereum Signed Message:\n5hello", "expected the preimage"},
		"no length":      {prefix, "expected the number of bytes"},
		"a byte less":    {prefix + "\x06hello", "expected the number of bytes"},
		"a byte more":    {prefix + "\x04hello", "expected the number of bytes"},
		"not shortest":   {prefix + "\xfd\x05\x00hello", "expected the number of bytes"},
		"not UTF-8":      {string(bip137.Preimage([]byte("a\xff"))), "so it cannot be shown"},
		"an escape":      {string(bip137.Preimage([]byte("a\x1bb"))), "so it cannot be shown"},
	} {
		if _, err := bip137.Parse([]byte(test.raw), bitcoin.Chain{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// FuzzParse checks that an accepted preimage is the one of the message that is shown, and
// that its double SHA-256 is signed.
func FuzzParse(f *testing.F) {
	key := chaintest.Key(f, keystore.CurveSecp256k1, bytes.Repeat([]byte{0x46}, 32))
	for _, message := range []string{"hello", "é世😁\t\n", strings.Repeat("x", 300), "\x00"} {
		f.Add(bip137.Preimage([]byte(message)))
	}
	f.Add([]byte(prefix + "\xfd\x05\x00hello"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := bip137.Parse(raw, bitcoin.Chain{})
		if err != nil {
			return
		}
		fields := read.Summary().Fields
		if again := bip137.Preimage([]byte(fields[len(fields)-1].Value)); !bytes.Equal(again, raw) {
			t.Fatalf("%x is shown as %+v", raw, fields)
		}
		signing := chaintest.MustReady(t, read, key.ID(), key)
		signed, err := signing.AppendSigned(t.Context(), nil)
		if err != nil || len(signed) != 65 {
			t.Fatalf("%x, %v", signed, err)
		}
		testenv.Must(t, keystore.VerifyECDSA(key.PublicKey(), chainhash.DoubleHashH(raw), [65]byte(signed)))
	})
}
