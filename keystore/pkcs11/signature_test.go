package pkcs11

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/keystore"
)

// TestFinishECDSA passes signatures with s in either half, as tokens return them.
func TestFinishECDSA(t *testing.T) {
	n := crypto.S256().Params().N
	for i := range 64 {
		secret := sha256.Sum256(fmt.Appendf(nil, "secret %d", i))
		digest := sha256.Sum256(fmt.Appendf(nil, "digest %d", i))
		public, want := softwareSigned(t, secret, digest)
		high := append([]byte{}, want[:64]...)
		new(big.Int).Sub(n, new(big.Int).SetBytes(want[32:64])).FillBytes(high[32:])
		for half, raw := range map[string][]byte{"low": want[:64], "high": high} {
			got, err := finishECDSA(public, digest, raw)
			if err != nil || got != [65]byte(want) {
				t.Errorf("%d, s %s: %x, %v, want %x", i, half, got, err, want)
			}
			digest[31] ^= 1
			mustNotFinish(t, "another digest", func() ([65]byte, error) { return finishECDSA(public, digest, raw) })
			digest[31] ^= 1
		}
	}
}

func softwareSigned(t *testing.T, secret, digest [32]byte) (keystore.PublicKey, []byte) {
	t.Helper()
	private, err := crypto.ToECDSA(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	signature, err := crypto.Sign(digest[:], private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, crypto.FromECDSAPub(&private.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return public, signature
}

func mustNotFinish(t *testing.T, what string, finish func() ([65]byte, error)) {
	t.Helper()
	if signature, err := finish(); !errors.Is(err, keystore.ErrSignatureCheck) || signature != [65]byte{} {
		t.Errorf("%s: %x, %v, want ErrSignatureCheck and nothing", what, signature, err)
	}
}

func TestFinishECDSARefuses(t *testing.T) {
	digest := [32]byte{1}
	public, good := softwareSigned(t, [32]byte{1}, digest)
	n := crypto.S256().Params().N.Bytes()
	for what, raw := range map[string][]byte{
		"nothing":     nil,
		"63 bytes":    good[:63],
		"65 bytes":    good,
		"zeros":       make([]byte, 64),
		"r of 0":      append(make([]byte, 32), good[32:64]...),
		"s of 0":      append(append([]byte{}, good[:32]...), make([]byte, 32)...),
		"r of n":      append(append([]byte{}, n...), good[32:64]...),
		"s of n":      append(append([]byte{}, good[:32]...), n...),
		"r, s change": append(append([]byte{}, good[32:64]...), good[:32]...),
	} {
		mustNotFinish(t, what, func() ([65]byte, error) { return finishECDSA(public, digest, raw) })
	}
	for what, s := range map[string][]byte{"0": make([]byte, 32), "n": n, "2^256-1": bytes.Repeat([]byte{0xff}, 32)} {
		_, err := finishECDSA(public, digest, append(bytes.Clone(good[:32]), s...))
		if err == nil || !strings.Contains(err.Error(), "s is not between 1 and the group order") {
			t.Errorf("s of %s: %v does not name s", what, err)
		}
	}
}

func TestFinishEd25519(t *testing.T) {
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	public, err := keystore.ParsePublicKey(keystore.CurveEd25519, private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	good := ed25519.Sign(private, []byte("message"))
	if signature, err := finishEd25519(public, []byte("message"), good); err != nil || signature != [64]byte(good) {
		t.Errorf("%x, %v", signature, err)
	}
	for what, raw := range map[string][]byte{"nothing": nil, "63 bytes": good[:63], "65 bytes": append(good, 0), "zeros": make([]byte, 64)} {
		if signature, err := finishEd25519(public, []byte("message"), raw); !errors.Is(err, keystore.ErrSignatureCheck) || signature != [64]byte{} {
			t.Errorf("%s: %x, %v, want ErrSignatureCheck and nothing", what, signature, err)
		}
	}
	if _, err := finishEd25519(public, []byte("massage"), good); !errors.Is(err, keystore.ErrSignatureCheck) {
		t.Errorf("another message: %v", err)
	}
}
