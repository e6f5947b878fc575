package pkcs11

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
)

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
