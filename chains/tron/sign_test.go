package tron

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// signedBy returns the signature of a secret over a transaction.
func signedBy(t testing.TB, tx *transaction, secret string) []byte {
	t.Helper()
	key, err := crypto.HexToECDSA(secret)
	testenv.Must(t, err)
	signature, err := crypto.Sign(tx.id[:], key)
	testenv.Must(t, err)
	signature[64] += vOffset
	return signature
}

// malleated returns the other signature of the same key that can be derived without the
// secret: n − s, and the other recovery id.
func malleated(signature []byte) []byte {
	out := bytes.Clone(signature)
	s := new(big.Int).SetBytes(signature[32:64])
	s.Sub(secp256k1.Params().N, s).FillBytes(out[32:64])
	out[64] = 27 + 28 - signature[64]
	return out
}

// bareV returns the same signature with 00 or 01 for v, as Ledger's devices and Wallet
// Core write it.
func bareV(signature []byte) []byte {
	out := bytes.Clone(signature)
	out[64] -= vOffset
	return out
}

// otherNonce returns another signature of the same key over the same transaction, such
// as by an HSM with random nonces.
func otherNonce(t testing.TB, tx *transaction, secret string) []byte {
	t.Helper()
	private := secp256k1.PrivKeyFromBytes(chaintest.Unhex(t, secret))
	nonce := sha256.Sum256([]byte("another nonce"))
	var k, e, r, s secp256k1.ModNScalar
	var point secp256k1.JacobianPoint
	k.SetBytes(&nonce)
	secp256k1.ScalarBaseMultNonConst(&k, &point)
	point.ToAffine()
	x := point.X.Bytes()
	r.SetBytes(x)
	e.SetBytes(&tx.id)
	s.Mul2(&r, &private.Key).Add(&e).Mul(k.InverseNonConst())
	out := make([]byte, 65)
	r.PutBytesUnchecked(out[:32])
	s.PutBytesUnchecked(out[32:64])
	out[64] = 27
	if point.Y.IsOdd() {
		out[64] = 28
	}
	if bytes.Equal(out, signedBy(t, tx, secret)) {
		t.Fatal("not another signature")
	}
	return out
}

// TestTwoOfThree signs with two co-signers of a permission in two calls.
func TestTwoOfThree(t *testing.T) {
	raw := newFrame(join(wrapped(1, "TransferContract", transfer(t)), varintField(5, 2))).bytes()
	one, two := keyOf(t, oneSecret), keyOf(t, twoSecret)
	for name, form := range map[string][]byte{"raw": raw, "whole": wholeOf(raw)} {
		t.Run(name, func(t *testing.T) {
			first := sign(t, form, one, "id")
			second := sign(t, first, two, addressOf(two.PublicKey()).String())
			tx := parse(t, raw)
			if want := wholeOf(raw, signedBy(t, tx, oneSecret), signedBy(t, tx, twoSecret)); !bytes.Equal(second, want) {
				t.Errorf("\n%x, want\n%x", second, want)
			}
			both := parse(t, second)
			if len(both.signatures) != 2 || both.signatures[0].signer != addressOf(one.PublicKey()) || both.signatures[1].signer != addressOf(two.PublicKey()) {
				t.Errorf("signers %v", both.signatures)
			}
			for _, key := range []keystore.Key{one, two} {
				names := chaintest.Names(ready(t, tx, key, "id").Hazards())
				if strings.Join(names, " ") != HazardForeignOwner {
					t.Errorf("hazards %v, want %s alone", names, HazardForeignOwner)
				}
			}
		})
	}
}

// TestEveryLength signs transactions of many lengths in turn with two keys: whatever
// the bytes of a length look like, the output must be readable.
func TestEveryLength(t *testing.T) {
	one, two := keyOf(t, oneSecret), keyOf(t, twoSecret)
	bare := join(lengthField(1, chaintest.Unhex(t, ownerHex)))
	for length := range 300 {
		f := newFrame(wrapped(13, "WithdrawBalanceContract", bare))
		if length > 0 {
			f.data = lengthField(10, make([]byte, length))
		}
		raw := f.bytes()
		both := sign(t, sign(t, raw, one, "id"), two, "id")
		if tx := parse(t, both); !bytes.Equal(tx.raw[tx.from:tx.to], raw) || len(tx.signatures) != 2 {
			t.Fatalf("%d bytes: %x", len(raw), both)
		}
	}
}

func sign(t *testing.T, raw []byte, key keystore.Key, signWith string) []byte {
	t.Helper()
	signed, err := ready(t, parse(t, raw), key, signWith).AppendSigned(t.Context(), nil)
	testenv.Must(t, err)
	return signed
}

// TestSignedAlready checks that the same signer is not added again, whatever the first
// signature looks like.
func TestSignedAlready(t *testing.T) {
	raw := rawOf(1, transfer(t))
	plain := parse(t, raw)
	one := signedBy(t, plain, oneSecret)
	key := keyOf(t, oneSecret)
	for name, signature := range map[string][]byte{
		"the same": one, "malleated": malleated(one), "bare v": bareV(one), "another nonce": otherNonce(t, plain, oneSecret),
	} {
		for _, signWith := range []string{"id", "TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC"} {
			tx := parse(t, wholeOf(raw, signedBy(t, plain, twoSecret), signature))
			want := "tron: Transaction.signature at byte 203: TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC has signed already: each signer signs once"
			if signing, err := chaintest.Ready(tx, signWith, key); signing != nil || !errors.Is(err, chains.ErrMalformed) || err.Error() != want {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestWrongKeys(t *testing.T) {
	tx := parse(t, rawOf(1, transfer(t)))
	if _, err := chaintest.Ready(tx, "id", chaintest.Key(t, keystore.CurveEd25519, make([]byte, 32))); !errors.Is(err, keystore.ErrUnsupported) {
		t.Errorf("an Ed25519 key: %v", err)
	}
	other := "TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC"
	key := keyOf(t, ownerSecret)
	_, err := chaintest.Ready(tx, other, key)
	if !errors.Is(err, chains.ErrNotSigner) || !strings.HasSuffix(err.Error(), "is at TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn, not at "+other) {
		t.Errorf("a key of another address: %v", err)
	}
	if _, err := tx.Request("T0oqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"); !errors.Is(err, chains.ErrSignWith) {
		t.Errorf("a malformed address: %v", err)
	}
}

func TestKeyThatFails(t *testing.T) {
	want := errors.New("hsm: session lost")
	tx := parse(t, rawOf(1, transfer(t)))
	if signed, err := ready(t, tx, failingKey{keyOf(t, ownerSecret), want}, "id").AppendSigned(t.Context(), nil); !errors.Is(err, want) || signed != nil {
		t.Errorf("%x, %v", signed, err)
	}
}

type failingKey struct {
	keystore.Key
	err error
}

func (k failingKey) SignECDSA(ctx context.Context, _ [32]byte) ([65]byte, error) {
	return [65]byte{}, errors.Join(ctx.Err(), k.err)
}

// TestSizeOnceSigned checks the limit of the network, which adds room for two results
// to what is broadcast.
func TestSizeOnceSigned(t *testing.T) {
	fits := DefaultMaxSize - resultRoom - 2 - signatureSize
	memo := func(size int) []byte {
		return with(t, func(f *frame) { f.data = lengthField(10, make([]byte, size)) })
	}
	overhead := len(memo(400_000)) - 400_000
	// 4: the tag and the length before raw_data
	for size, fit := range map[int]bool{fits - 4 - overhead: true, fits - 4 - overhead + 1: false} {
		tx, err := Chain{}.Parse(memo(size))
		if (err == nil) != fit {
			t.Fatalf("memo of %d bytes: %v", size, err)
		}
		if fit {
			if signed := sign(t, memo(size), keyOf(t, ownerSecret), "id"); len(signed)+resultRoom != DefaultMaxSize || tx == nil {
				t.Errorf("%d bytes", len(signed))
			}
		}
	}
}
