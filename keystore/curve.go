package keystore

import (
	"fmt"

	"github.com/countersign-dev/countersign/internal/secret"
)

// Curve is the curve of a key. Its text form is the API's name.
type Curve uint8

// The curves of signing keys. The zero Curve is none of them.
const (
	CurveSecp256k1 Curve = iota + 1 // SEC 2; secrets are 32-byte big-endian scalars
	CurveEd25519                    // RFC 8032; secrets are 32-byte seeds
)

// SecretSize is the length in bytes of a key's secret, on either curve.
const SecretSize = secret.Size

var curveNames = map[Curve]string{
	CurveSecp256k1: "CURVE_SECP256K1",
	CurveEd25519:   "CURVE_ED25519",
}

// ParseCurve reads the API's name of a curve, such as CURVE_SECP256K1.
func ParseCurve(name string) (Curve, error) {
	for curve, curveName := range curveNames {
		if name == curveName {
			return curve, nil
		}
	}
	return 0, fmt.Errorf("unknown curve %q: use CURVE_SECP256K1 or CURVE_ED25519", name)
}

// String returns the API's name for the curve.
func (c Curve) String() string {
	if name, ok := curveNames[c]; ok {
		return name
	}
	return fmt.Sprintf("Curve(%d)", uint8(c))
}

// MarshalText returns the API's name for the curve.
func (c Curve) MarshalText() ([]byte, error) {
	if _, ok := curveNames[c]; !ok {
		return nil, fmt.Errorf("keystore: %v has no name", c)
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (c *Curve) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCurve(string(text))
	return err
}
