package software

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

const groupOrder = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"

func TestNewRefuses(t *testing.T) {
	one := testenv.Hex(t, strings.Repeat("0", 63)+"1")
	for _, c := range []struct {
		name   string
		curve  keystore.Curve
		secret []byte
		want   string
	}{
		{"no secret", keystore.CurveSecp256k1, nil, "0 bytes, want 32"},
		{"short", keystore.CurveEd25519, one[1:], "31 bytes, want 32"},
		{"long", keystore.CurveEd25519, append(bytes.Clone(one), 0), "33 bytes, want 32"},
		{"zero scalar", keystore.CurveSecp256k1, make([]byte, 32), "not between 1 and the group order"},
		{"group order", keystore.CurveSecp256k1, testenv.Hex(t, groupOrder), "not between 1 and the group order"},
		{"beyond it", keystore.CurveSecp256k1, bytes.Repeat([]byte{0xff}, 32), "not between 1 and the group order"},
		{"no curve", 0, one, "unknown curve"},
	} {
		if key, err := New(keystore.KeyInfo{}, c.curve, c.secret); err == nil || key != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error with %q", c.name, key, err, c.want)
		}
	}
}

func TestNewChecksThePublicKey(t *testing.T) {
	for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
		own := mustNew(t, curve, bytes.Repeat([]byte{1}, 32)).Info().PublicKey
		other := mustNew(t, curve, bytes.Repeat([]byte{2}, 32)).Info().PublicKey
		if _, err := New(keystore.KeyInfo{PublicKey: own}, curve, bytes.Repeat([]byte{1}, 32)); err != nil {
			t.Errorf("%v: its own public key: %v", curve, err)
		}
		if _, err := New(keystore.KeyInfo{PublicKey: other}, curve, bytes.Repeat([]byte{1}, 32)); !errors.Is(err, ErrOtherPublicKey) {
			t.Errorf("%v: another public key: %v, want ErrOtherPublicKey", curve, err)
		}
	}
}

func TestGenerate(t *testing.T) {
	for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
		seen := map[[32]byte]bool{}
		for range 100 {
			secret := [32]byte(Generate("", curve).Secret)
			if seen[secret] {
				t.Fatalf("%v: the same secret twice", curve)
			}
			seen[secret] = true
			mustNew(t, curve, secret[:])
		}
	}
}

// TestHandleReachesNoSecret: a handle cannot be asserted to anything that exports or destroys the
// secret.
func TestHandleReachesNoSecret(t *testing.T) {
	for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
		handle := mustNew(t, curve, bytes.Repeat([]byte{1}, 32)).Handle()
		switch handle.(type) {
		case interface{ Destroy() }, interface{ Secret() keystore.Secret }, interface {
			RevealSecret(use func(secret []byte) error) error
		}:
			t.Errorf("%v: the handle is a %T", curve, handle)
		}
	}
}

func TestRevealSecret(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, 32)
	for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
		key := mustNew(t, curve, secret)
		err := key.RevealSecret(func(revealed []byte) error {
			if !bytes.Equal(revealed, secret) {
				t.Errorf("%v: revealed %x, want %x", curve, revealed, secret)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		key.Destroy()
		if err := key.RevealSecret(func([]byte) error { return nil }); !errors.Is(err, keystore.ErrClosed) {
			t.Errorf("%v: after Destroy: %v, want ErrClosed", curve, err)
		}
	}
}

func TestCompare(t *testing.T) {
	at := func(id string, seconds int) *Key {
		key, err := New(keystore.KeyInfo{ID: id, CreatedAt: time.Unix(int64(seconds), 0)}, keystore.CurveEd25519, bytes.Repeat([]byte{1}, 32))
		testenv.Must(t, err)
		return key
	}
	ordered := []*Key{at("z", -5), at("b", 1), at("c", 1), at("a", 2)}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := Compare(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("Compare(%d, %d) = %d", i, j, got)
			}
		}
	}
}
