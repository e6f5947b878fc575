package stamp_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// TestCOSEKeyFromSPKI: the result is the COSE key that an authenticator would return; keys
// that passkeys cannot have are refused.
func TestCOSEKeyFromSPKI(t *testing.T) {
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(t, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	testenv.Must(t, err)
	public, _, err := ed25519.GenerateKey(rand.Reader)
	testenv.Must(t, err)
	strong, err := rsaKey()
	testenv.Must(t, err)
	point, err := p256.PublicKey.Bytes()
	testenv.Must(t, err)
	x25519, err := ecdh.X25519().GenerateKey(rand.Reader)
	testenv.Must(t, err)
	for name, test := range map[string]struct {
		key     any
		want    []byte // nil: refused
		problem string
	}{
		"P-256":           {&p256.PublicKey, coseP256(t, point[1:33], point[33:]), ""},
		"Ed25519":         {public, cose(t, map[int]any{1: 1, 3: -8, -1: 6, -2: []byte(public)}), ""},
		"RSA":             {&strong.PublicKey, cose(t, map[int]any{1: 3, 3: -257, -1: strong.N.Bytes(), -2: []byte{1, 0, 1}}), ""},
		"P-384":           {&p384.PublicKey, nil, "SPKI: expected an elliptic-curve key on P-256"},
		"X25519":          {x25519.PublicKey(), nil, "SPKI: expected an ECDSA key on P-256, an RSA key or an Ed25519 key, not a *ecdh.PublicKey"},
		"RSA of 512 bits": {&rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 511, 1), E: 65537}, nil, "2048 to 4096 bits"},
	} {
		der, err := x509.MarshalPKIXPublicKey(test.key)
		testenv.Must(t, err)
		got, err := stamp.COSEKeyFromSPKI(der)
		if !bytes.Equal(got, test.want) || (err == nil) != (test.want != nil) {
			t.Errorf("%s: %x, %v, want %x", name, got, err, test.want)
		}
		if err != nil {
			if !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v, want %s", name, err, test.problem)
			}
			continue
		}
		if _, err := stamp.NewPasskey([]byte("id"), got, "example.com"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := stamp.COSEKeyFromSPKI([]byte("not DER")); err == nil {
		t.Error("accepted, though it is not DER")
	}
}
