package fuzz

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// FuzzDecodeHex checks that what is accepted is hex, and encodes to the same text.
func FuzzDecodeHex(f *testing.F) {
	for _, seed := range []string{"", "0x", "0x02ec", "02EC", "02e", "02e\xff", "AuwBB4Q7", "{}", " 02",
		"0X" + strings.Repeat("0123456789abcdefABCDEF", 9), strings.Repeat("7", 63) + "g", strings.Repeat("7", 33) + "g" + strings.Repeat("7", 36)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := chains.DecodeHex(text)
		switch {
		case err != nil && err.Error() == "":
			t.Errorf("%q: an empty error", text)
		case err != nil && isHex(strings.TrimPrefix(strings.Replace(text, "0X", "0x", 1), "0x")):
			t.Errorf("%q: %v", text, err)
		case err == nil && hex.EncodeToString(raw) != strings.TrimPrefix(strings.ToLower(text), "0x"):
			t.Errorf("%q: read as %x", text, raw)
		}
	})
}

// isHex reports whether encoding/hex reads something from the text.
func isHex(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) > 0
}

// FuzzDecimal checks that only the decimal point moves.
func FuzzDecimal(f *testing.F) {
	f.Add(uint64(1500), uint8(3))
	f.Fuzz(func(t *testing.T, value uint64, places uint8) {
		integer := new(big.Int).SetUint64(value)
		shown := chains.Decimal(integer.String(), int(places))
		read, ok := new(big.Rat).SetString(shown)
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
		if !ok || read.Cmp(new(big.Rat).SetFrac(integer, scale)) != 0 {
			t.Errorf("Decimal(%d, %d) = %s", value, places, shown)
		}
	})
}
