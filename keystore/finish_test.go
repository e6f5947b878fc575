package keystore_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	decred "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

var groupOrder = crypto.S256().Params().N

// softwareSigned returns a public key and its signature r ‖ s ‖ v of a digest.
func softwareSigned(t testing.TB, secret, digest [32]byte) (keystore.PublicKey, []byte) {
	t.Helper()
	private, err := crypto.ToECDSA(secret[:])
	testenv.Must(t, err)
	signature, err := crypto.Sign(digest[:], private)
	testenv.Must(t, err)
	public, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, crypto.FromECDSAPub(&private.PublicKey))
	testenv.Must(t, err)
	return public, signature
}

// derOf encodes r and s, each with a number of unnecessary leading zeros.
func derOf(t testing.TB, rs []byte, zeros int) []byte {
	t.Helper()
	integer := func(half []byte) asn1.RawValue {
		content := new(big.Int).SetBytes(half).Bytes()
		if len(content) == 0 || content[0]&0x80 != 0 {
			content = append([]byte{0}, content...)
		}
		return asn1.RawValue{Tag: asn1.TagInteger, Bytes: append(make([]byte, zeros), content...)}
	}
	der, err := asn1.Marshal([]asn1.RawValue{integer(rs[:32]), integer(rs[32:64])})
	testenv.Must(t, err)
	return der
}

// highS returns the signature with the other s.
func highS(rs []byte) []byte {
	high := bytes.Clone(rs[:64])
	new(big.Int).Sub(groupOrder, new(big.Int).SetBytes(rs[32:64])).FillBytes(high[32:])
	return high
}

// TestFinishECDSA passes signatures with s in either half and in either form, as backends
// return them.
func TestFinishECDSA(t *testing.T) {
	for i := range 64 {
		secret := sha256.Sum256(fmt.Appendf(nil, "secret %d", i))
		digest := sha256.Sum256(fmt.Appendf(nil, "digest %d", i))
		public, want := softwareSigned(t, secret, digest)
		high := highS(want)
		for form, signature := range map[string][]byte{
			"low": want[:64], "high": high, "DER, low": derOf(t, want, 0), "DER, high": derOf(t, high, 0),
		} {
			got, err := keystore.FinishECDSA(public, digest, signature)
			if err != nil || got != [65]byte(want) {
				t.Errorf("%d, %s: %x, %v, want %x", i, form, got, err, want)
			}
			other := digest
			other[31] ^= 1
			mustNotFinish(t, "another digest, "+form, public, other, signature)
		}
		another, _ := softwareSigned(t, sha256.Sum256([]byte("another")), digest)
		mustNotFinish(t, "the signature of another key", another, digest, want[:64])
	}
}

func mustNotFinish(t *testing.T, what string, public keystore.PublicKey, digest [32]byte, raw []byte) {
	t.Helper()
	if signature, err := keystore.FinishECDSA(public, digest, raw); !errors.Is(err, keystore.ErrSignatureCheck) || signature != [65]byte{} {
		t.Errorf("%s: %x, %v, want ErrSignatureCheck and nothing", what, signature, err)
	}
}

// shortSigned searches a signature of which r or s is short, so that padding fits 33 bytes.
func shortSigned(t *testing.T) (public keystore.PublicKey, digest [32]byte, want []byte) {
	t.Helper()
	for i := range 1 << 16 {
		digest = sha256.Sum256(fmt.Appendf(nil, "short %d", i))
		public, want = softwareSigned(t, [32]byte{7}, digest)
		if want[0] == 0 && want[1]&0x80 == 0 && want[32]&0x80 == 0 {
			return public, digest, want
		}
	}
	t.Fatal("no signature with a short r")
	return public, digest, nil
}

// TestFinishECDSAPadded: unnecessary zeros are accepted up to 33 bytes, which is what devices
// with integers of a fixed length write.
func TestFinishECDSAPadded(t *testing.T) {
	public, digest, want := shortSigned(t)
	padded := append([]byte{0x30, 70, 0x02, 33, 0}, want[:32]...)
	padded = append(append(padded, 0x02, 33, 0), want[32:64]...)
	for what, signature := range map[string][]byte{"one zero": derOf(t, want, 1), "33 bytes each": padded} {
		if got, err := keystore.FinishECDSA(public, digest, signature); err != nil || got != [65]byte(want) {
			t.Errorf("%s: %x, %v, want %x", what, got, err, want)
		}
	}
	mustNotFinish(t, "34 bytes", public, digest, derOf(t, want, 3))
}

func TestFinishECDSARefuses(t *testing.T) {
	digest := [32]byte{1}
	public, good := softwareSigned(t, [32]byte{1}, digest)
	der := derOf(t, good, 0)
	n := groupOrder.Bytes()
	join := func(r, s []byte) []byte { return append(bytes.Clone(r), s...) }
	inner := der[2:]
	r, s := inner[:2+inner[1]], inner[2+inner[1]:]
	sequence := func(parts ...[]byte) []byte {
		content := bytes.Join(parts, nil)
		return append([]byte{0x30, byte(len(content))}, content...)
	}
	for what, signature := range map[string][]byte{
		"nothing":               nil,
		"63 bytes":              good[:63],
		"65 bytes":              good,
		"zeros":                 make([]byte, 64),
		"r of 0":                join(make([]byte, 32), good[32:64]),
		"s of 0":                join(good[:32], make([]byte, 32)),
		"r of n":                join(n, good[32:64]),
		"s of n":                join(good[:32], n),
		"r and s exchanged":     join(good[32:64], good[:32]),
		"DER, truncated":        der[:len(der)-1],
		"DER, a byte after it":  join(der, []byte{0}),
		"DER, long length":      join([]byte{0x30, 0x81}, der[1:]),
		"DER, indefinite":       join(join([]byte{0x30, 0x80}, der[2:]), []byte{0, 0}),
		"DER, a set":            join([]byte{0x31}, der[1:]),
		"DER, three integers":   sequence(r, s, s),
		"DER, one integer":      sequence(r),
		"DER, empty":            {0x30, 0},
		"DER, empty integer":    sequence([]byte{0x02, 0}, s),
		"DER, octets":           sequence(join([]byte{0x04}, r[1:]), s),
		"DER, negative":         sequence(join([]byte{0x02, 32, 0xff}, good[1:32]), s),
		"DER, 33 bytes of r":    sequence(join([]byte{0x02, 33, 1}, good[:32]), s),
		"DER, s of n":           derOf(t, join(good[:32], n), 0),
		"DER, r and s of 0":     derOf(t, make([]byte, 64), 0),
		"DER, r and s switched": sequence(s, r),
	} {
		mustNotFinish(t, what, public, digest, signature)
	}
	for what, s := range map[string][]byte{"0": make([]byte, 32), "n": n, "2^256-1": bytes.Repeat([]byte{0xff}, 32)} {
		_, err := keystore.FinishECDSA(public, digest, join(good[:32], s))
		if err == nil || !strings.Contains(err.Error(), "s is not between 1 and the group order") {
			t.Errorf("s of %s: %v does not name s", what, err)
		}
	}
	mustNotFinish(t, "no public key", keystore.PublicKey{}, digest, good[:64])
	solana, err := keystore.ParsePublicKey(keystore.CurveEd25519, ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey))
	testenv.Must(t, err)
	mustNotFinish(t, "a public key on Ed25519", solana, digest, good[:64])
}

// FuzzFinishECDSA: what is returned verifies completely, and everything that another strict
// reader of DER accepts and verifies is finished to the same r and low s.
func FuzzFinishECDSA(f *testing.F) {
	digest := sha256.Sum256([]byte("fuzz"))
	public, good := softwareSigned(f, [32]byte{3}, digest)
	point := public.Uncompressed()
	f.Add(good[:64])
	f.Add(highS(good))
	f.Add(derOf(f, good, 0))
	f.Add(derOf(f, highS(good), 0))
	f.Add(derOf(f, good, 1))
	f.Add([]byte{0x30, 0x3e, 0x02, 0x1d})
	f.Fuzz(func(t *testing.T, signature []byte) {
		before := bytes.Clone(signature)
		finished, err := keystore.FinishECDSA(public, digest, signature)
		if !bytes.Equal(before, signature) {
			t.Fatal("the input was changed")
		}
		if err != nil && (!errors.Is(err, keystore.ErrSignatureCheck) || finished != [65]byte{}) {
			t.Fatalf("%x, %v", finished, err)
		}
		if err == nil {
			testenv.Must(t, keystore.VerifyECDSA(public, digest, finished))
		}
		parsed, parseErr := decred.ParseDERSignature(signature)
		if parseErr != nil {
			return
		}
		var rs [64]byte
		r, s := parsed.R(), parsed.S()
		r.PutBytesUnchecked(rs[:32])
		s.PutBytesUnchecked(rs[32:])
		low := rs
		if s.IsOverHalfOrder() {
			s.Negate().PutBytesUnchecked(low[32:])
		}
		if verifies := crypto.VerifySignature(point[:], digest[:], low[:]); verifies != (err == nil) || verifies && !bytes.Equal(finished[:64], low[:]) {
			t.Fatalf("%x: %x, %v; verifies elsewhere: %v", signature, finished, err, verifies)
		}
	})
}

func TestFinishEd25519(t *testing.T) {
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	public, err := keystore.ParsePublicKey(keystore.CurveEd25519, private.Public().(ed25519.PublicKey))
	testenv.Must(t, err)
	good := ed25519.Sign(private, []byte("message"))
	if signature, err := keystore.FinishEd25519(public, []byte("message"), good); err != nil || signature != [64]byte(good) {
		t.Errorf("%x, %v", signature, err)
	}
	for what, raw := range map[string][]byte{"nothing": nil, "63 bytes": good[:63], "65 bytes": append(good, 0), "zeros": make([]byte, 64)} {
		if signature, err := keystore.FinishEd25519(public, []byte("message"), raw); !errors.Is(err, keystore.ErrSignatureCheck) || signature != [64]byte{} {
			t.Errorf("%s: %x, %v, want ErrSignatureCheck and nothing", what, signature, err)
		}
	}
	if _, err := keystore.FinishEd25519(public, []byte("massage"), good); !errors.Is(err, keystore.ErrSignatureCheck) {
		t.Errorf("another message: %v", err)
	}
}
