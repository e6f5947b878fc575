package keystore_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// Multiples of the generator of secp256k1, from SEC 2 and published lists of k·G.
var points = []struct{ name, compressed, uncompressed string }{
	{
		"1·G", "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		"0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
	},
	{
		"2·G", "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
		"04c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee51ae168fea63dc339a3c58419466ceaeef7f632653266d0e1236431a950cfe52a",
	},
	{
		"-1·G", "0379be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		"0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798b7c52588d95c3b9aa25b0403f1eef75702e84bb7597aabe663b82f6f04ef2777",
	},
}

func TestParsePublicKey(t *testing.T) {
	for _, point := range points {
		t.Run(point.name, func(t *testing.T) {
			compressed := parse(t, keystore.CurveSecp256k1, point.compressed)
			uncompressed := parse(t, keystore.CurveSecp256k1, point.uncompressed)
			if compressed != uncompressed {
				t.Errorf("the two encodings give %v and %v", compressed, uncompressed)
			}
			if got := compressed.String(); got != point.compressed {
				t.Errorf("String %s, want %s", got, point.compressed)
			}
			whole := compressed.Uncompressed()
			if got := hex.EncodeToString(whole[:]); got != point.uncompressed {
				t.Errorf("Uncompressed %s, want %s", got, point.uncompressed)
			}
			x := compressed.XOnly()
			if got := hex.EncodeToString(x[:]); got != point.compressed[2:] {
				t.Errorf("XOnly %s, want %s", got, point.compressed[2:])
			}
		})
	}
}

func TestParsePublicKeyEd25519(t *testing.T) {
	const encoded = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" // RFC 8032, test 1
	pub := parse(t, keystore.CurveEd25519, encoded)
	raw := pub.Ed25519()
	if pub.Curve() != keystore.CurveEd25519 || pub.String() != encoded || hex.EncodeToString(raw[:]) != encoded {
		t.Errorf("read %v key %v, want %s", pub.Curve(), pub, encoded)
	}
}

func TestParsePublicKeyRefuses(t *testing.T) {
	const x, y = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
	for _, c := range []struct {
		name, encoded string
		curve         keystore.Curve
		want          string
	}{
		{"no bytes", "", keystore.CurveSecp256k1, "0 bytes, want 33 or 65"},
		{"x only", x, keystore.CurveSecp256k1, "32 bytes, want 33 or 65"},
		{"one byte more", "02" + x + "00", keystore.CurveSecp256k1, "34 bytes, want 33 or 65"},
		{"unknown prefix", "05" + x, keystore.CurveSecp256k1, "not a point"},
		{"hybrid form", "06" + x + y, keystore.CurveSecp256k1, "not a point"},
		{"compressed prefix, both coordinates", "02" + x + y, keystore.CurveSecp256k1, "not a point"},
		{"y of another point", "04" + x + y[:62] + "b9", keystore.CurveSecp256k1, "not a point"},
		{"x that no point has", "02" + strings.Repeat("00", 31) + "05", keystore.CurveSecp256k1, "not a point"},
		{"x = 0", "02" + strings.Repeat("00", 32), keystore.CurveSecp256k1, "not a point"},
		{"x of the field order and more", "02" + strings.Repeat("ff", 32), keystore.CurveSecp256k1, "not a point"},
		{"x = p + 1, which is 1 again", "02fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30", keystore.CurveSecp256k1, "not a point"},
		{"infinity", "00", keystore.CurveSecp256k1, "1 bytes"},
		{"zeros", "04" + strings.Repeat("00", 64), keystore.CurveSecp256k1, "not a point"},
		{"short ed25519", strings.Repeat("00", 31), keystore.CurveEd25519, "31 bytes, want 32"},
		{"long ed25519", strings.Repeat("00", 33), keystore.CurveEd25519, "33 bytes, want 32"},
		{"y = 2, of no point of ed25519", "02" + strings.Repeat("00", 31), keystore.CurveEd25519, "not a point"},
		{"y = p + 1, which is 1 again, of ed25519", "ee" + strings.Repeat("ff", 30) + "7f", keystore.CurveEd25519, "not a point"},
		{"x = 0 with a sign, of ed25519", "01" + strings.Repeat("00", 30) + "80", keystore.CurveEd25519, "not a point"},
		{"zeros, of small order", strings.Repeat("00", 32), keystore.CurveEd25519, "small order"},
		{"the neutral element", "01" + strings.Repeat("00", 31), keystore.CurveEd25519, "small order"},
		{"no curve", "02" + x, 0, "unknown curve"},
	} {
		t.Run(c.name, func(t *testing.T) {
			encoded := testenv.Hex(t, c.encoded)
			pub, err := keystore.ParsePublicKey(c.curve, encoded)
			if err == nil || !strings.Contains(err.Error(), c.want) || !pub.IsZero() {
				t.Errorf("read %v with %v, want an error with %q", pub, err, c.want)
			}
		})
	}
}

func parse(t testing.TB, curve keystore.Curve, encoded string) keystore.PublicKey {
	t.Helper()
	raw := testenv.Hex(t, encoded)
	pub, err := keystore.ParsePublicKey(curve, raw)
	testenv.Must(t, err)
	return pub
}

func TestCurve(t *testing.T) {
	for curve, name := range map[keystore.Curve]string{
		keystore.CurveSecp256k1: "CURVE_SECP256K1", keystore.CurveEd25519: "CURVE_ED25519",
	} {
		text, err := curve.MarshalText()
		if err != nil || string(text) != name || curve.String() != name {
			t.Errorf("%d: %s, %v, want %s", uint8(curve), text, err, name)
		}
		var again keystore.Curve
		if err := again.UnmarshalText(text); err != nil || again != curve {
			t.Errorf("%s read again: %v, %v", name, again, err)
		}
	}
	for _, unknown := range []string{"", "secp256k1", "curve_secp256k1", "CURVE_P256", "CURVE_SECP256K1 "} {
		if curve, err := keystore.ParseCurve(unknown); err == nil || curve != 0 {
			t.Errorf("%q is read as %v", unknown, curve)
		}
	}
	if _, err := keystore.Curve(0).MarshalText(); err == nil {
		t.Error("the zero Curve has a name")
	}
}
