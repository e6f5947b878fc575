package ethereum_test

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/gethoracle"
)

// TestSigningHash checks that the key gets the hash that the vectors name.
func TestSigningHash(t *testing.T) {
	for name, v := range evmtest.Vectors(t) {
		key := evmtest.NewFixedKey(t)
		evmtest.SignRaw(t, ethereum.Chain{}, chaintest.Unhex(t, v.Unsigned), key)
		if want := chaintest.Unhex(t, v.SigningHash); !bytes.Equal(key.Digest[:], want) {
			t.Errorf("%s: hash %x, want %x", name, key.Digest, want)
		}
	}
}

// TestSpliceScalars splices signatures of every length into every kind of transaction:
// r and s of 1 to 32 bytes, both parities. The result must be go-ethereum's encoding.
func TestSpliceScalars(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 19))
	for number := range 64 * gethoracle.Kinds {
		c := gethoracle.Generate(random, number%gethoracle.Kinds)
		key := evmtest.NewFixedKey(t)
		size := 1 + number/gethoracle.Kinds%32
		for i := range size {
			key.Signature[31-i], key.Signature[63-(i*5)%32] = byte(random.Uint32())|1, byte(random.Uint32())
		}
		key.Signature[63] |= 1
		key.Signature[64] = byte(number / gethoracle.Kinds % 2)

		signed := evmtest.SignRaw(t, ethereum.Chain{}, c.Unsigned, key)
		decoded := decodeSigned(t, signed)
		again, err := decoded.MarshalBinary()
		if err != nil || !bytes.Equal(again, signed) {
			t.Fatalf("%x\ngo-ethereum encodes it as %x (%v)", signed, again, err)
		}
		v, r, s := decoded.RawSignatureValues()
		if !bytes.Equal(r.FillBytes(make([]byte, 32)), key.Signature[:32]) || !bytes.Equal(s.FillBytes(make([]byte, 32)), key.Signature[32:64]) {
			t.Errorf("%x: r %x, s %x, want %x", signed, r, s, key.Signature)
		}
		if want := wantV(decoded, c.Tx, key.Signature[64]); v.Cmp(want) != 0 {
			t.Errorf("%x: v %d, want %d", signed, v, want)
		}
	}
}

// wantV is v by EIP-155 and EIP-2718.
func wantV(tx, original *types.Transaction, parity byte) *big.Int {
	v := big.NewInt(int64(parity))
	switch {
	case tx.Type() != types.LegacyTxType:
		return v
	case !original.Protected():
		return v.Add(v, big.NewInt(27))
	}
	return v.Add(v, new(big.Int).Add(new(big.Int).Lsh(original.ChainId(), 1), big.NewInt(35)))
}

// TestLegacyV has the largest chain id for which v is 64 bits.
func TestLegacyV(t *testing.T) {
	key := evmtest.NewFixedKey(t)
	key.Signature[64] = 1
	signed := evmtest.SignRaw(t, ethereum.Chain{}, chaintest.Unhex(t, list(with(eip155Items, 7, "887fffffffffffffed")...)), key)
	if v, _, _ := decodeSigned(t, signed).RawSignatureValues(); v.Text(16) != "fffffffffffffffe" {
		t.Errorf("v is %x", v)
	}
}
