package stamp_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// TestSigner stamps with several secrets, which have public keys of either parity. The
// signer does not keep the caller's slice.
func TestSigner(t *testing.T) {
	for _, curve := range []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519} {
		for i := range byte(8) {
			secret := bytes.Repeat([]byte{7 + i}, 32)
			signer, err := stamp.NewSigner(curve, secret)
			testenv.Must(t, err)
			clear(secret)
			credential := apiKey(t, curve, signer.PublicKey())
			header, err := signer.Stamp([]byte(body))
			testenv.Must(t, err)
			if err := verify(credential, header, body); err != nil {
				t.Errorf("%s: %v", curve, err)
			}
			if err := verify(credential, header, body+" "); err == nil {
				t.Errorf("%s: verifies over another body", curve)
			}
		}
	}
}

func TestNewSignerRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		curve  stamp.Curve
		secret []byte
		want   string
	}{
		"short":            {stamp.CurveP256, bytes.Repeat([]byte{7}, 31), "a secret of 31 bytes, want 32"},
		"long":             {stamp.CurveP256, bytes.Repeat([]byte{7}, 33), "a secret of 33 bytes, want 32"},
		"long, Ed25519":    {stamp.CurveEd25519, bytes.Repeat([]byte{7}, 33), "a secret of 33 bytes, want 32"},
		"short, secp256k1": {stamp.CurveSecp256k1, bytes.Repeat([]byte{7}, 31), "a secret of 31 bytes, want 32"},
		"unknown curve":    {"API_KEY_CURVE_P384", bytes.Repeat([]byte{7}, 32), "unknown curve"},
		"zero, P-256":      {stamp.CurveP256, make([]byte, 32), "not a secret key on P-256"},
		"zero, secp256k1":  {stamp.CurveSecp256k1, make([]byte, 32), "not a secret key on secp256k1"},
		"order, P-256":     {stamp.CurveP256, p256.Params().N.Bytes(), "not a secret key on P-256"},
		"over, secp256k1":  {stamp.CurveSecp256k1, bytes.Repeat([]byte{0xff}, 32), "not a secret key on secp256k1"},
	} {
		if _, err := stamp.NewSigner(test.curve, test.secret); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
