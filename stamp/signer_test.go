package stamp_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/stamp"
)

func TestSigner(t *testing.T) {
	for _, curve := range []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519} {
		signer, err := stamp.NewSigner(curve, bytes.Repeat([]byte{7}, 32))
		if err != nil {
			t.Fatal(err)
		}
		credential := apiKey(t, curve, signer.PublicKey())
		header, err := signer.Stamp([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(credential, header, body); err != nil {
			t.Errorf("%s: %v", curve, err)
		}
		if err := verify(credential, header, body+" "); err == nil {
			t.Errorf("%s: verifies over another body", curve)
		}
	}
}

func TestNewSignerRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		curve  stamp.Curve
		secret []byte
	}{
		"short":           {stamp.CurveP256, make([]byte, 31)},
		"unknown curve":   {"API_KEY_CURVE_P384", bytes.Repeat([]byte{7}, 32)},
		"zero, P-256":     {stamp.CurveP256, make([]byte, 32)},
		"zero, secp256k1": {stamp.CurveSecp256k1, make([]byte, 32)},
		"order, P-256":    {stamp.CurveP256, p256.Params().N.Bytes()},
		"over, secp256k1": {stamp.CurveSecp256k1, bytes.Repeat([]byte{0xff}, 32)},
	} {
		if _, err := stamp.NewSigner(test.curve, test.secret); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
