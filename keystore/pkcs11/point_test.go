package pkcs11

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// The generator of secp256k1 (SEC 2, 2.4.1), and the public key of RFC 8032,
// 7.1, test 1.
const (
	generatorX = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	generatorY = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
	rfc8032    = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
)

func TestPoints(t *testing.T) {
	for text, curve := range map[string]keystore.Curve{
		"044104" + generatorX + generatorY: keystore.CurveSecp256k1,
		"04" + generatorX + generatorY:     keystore.CurveSecp256k1,
		"042102" + generatorX:              keystore.CurveSecp256k1,
		"02" + generatorX:                  keystore.CurveSecp256k1,
		"0420" + rfc8032:                   keystore.CurveEd25519,
		"032100" + rfc8032:                 keystore.CurveEd25519,
		rfc8032:                            keystore.CurveEd25519,
	} {
		encoded := testenv.Hex(t, text)
		public, err := parsePoint(curve, encoded)
		want := map[keystore.Curve]string{keystore.CurveSecp256k1: "02" + generatorX, keystore.CurveEd25519: rfc8032}[curve]
		if err != nil || public.String() != want {
			t.Errorf("%s: %v, %v", text, public, err)
		}
		if again, err := parsePoint(curve, encodePoint(public)); err != nil || again != public {
			t.Errorf("%s: written %x", text, encodePoint(public))
		}
		for size := range len(encoded) {
			if curve == keystore.CurveEd25519 && size == 32 {
				continue // a raw point, which half of all 32 bytes are
			}
			if _, err := parsePoint(curve, encoded[:size]); err == nil {
				t.Errorf("%s: %d bytes of it are read", text, size)
			}
		}
		if _, err := parsePoint(curve, append(bytes.Clone(encoded), 0)); err == nil {
			t.Errorf("%s: one byte more is read", text)
		}
	}
}

func TestPointsRefused(t *testing.T) {
	for text, curve := range map[string]keystore.Curve{
		"":                                   keystore.CurveSecp256k1,
		"054104" + generatorX + generatorY:   keystore.CurveSecp256k1,
		"044204" + generatorX + generatorY:   keystore.CurveSecp256k1,
		"044107" + generatorX + generatorY:   keystore.CurveSecp256k1,
		"044104" + generatorY + generatorX:   keystore.CurveSecp256k1,
		"0420" + generatorX:                  keystore.CurveSecp256k1,
		"0421" + rfc8032:                     keystore.CurveEd25519,
		"032101" + rfc8032:                   keystore.CurveEd25519,
		"0400" + rfc8032:                     keystore.CurveEd25519,
		hex.EncodeToString(make([]byte, 32)): keystore.CurveEd25519, // of small order
	} {
		if public, err := parsePoint(curve, testenv.Hex(t, text)); err == nil {
			t.Errorf("%s is read as %v", text, public)
		}
	}
}

func TestCurves(t *testing.T) {
	for text, want := range map[string]keystore.Curve{
		"06052b8104000a":               keystore.CurveSecp256k1,
		"1309736563703235366b31":       keystore.CurveSecp256k1,
		"06032b6570":                   keystore.CurveEd25519,
		"130c656477617264733235353139": keystore.CurveEd25519,
		"06082a8648ce3d030107":         0, // P-256
		"06052b8104000a00":             0,
		"06052b81040022":               0, // P-384
		"":                             0,
	} {
		if got := curveOf(testenv.Hex(t, text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
