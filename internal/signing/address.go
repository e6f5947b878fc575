package signing

import "strings"

// Alphabets of addresses.
const (
	hexDigits    = "0123456789abcdefABCDEF"
	base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
)

// looksLike says what kind of address a signWith that names no key on a chain looks like, if
// that explains why, with a semicolon in front, or "". It looks at the shape alone.
func looksLike(signWith, chain string) string {
	only := func(digits string) bool { return strings.Trim(signWith, digits) == "" }
	evm := chain == "ethereum" || chain == "tempo"
	lower := strings.ToLower(signWith)
	var of string
	switch n := len(signWith); {
	case n == 40 && only(hexDigits) && evm:
		return "; if this is an address, 0x is missing in front of it"
	case n == 42 && strings.HasPrefix(lower, "0x") && strings.Trim(signWith[2:], hexDigits) == "" && !evm:
		of = "Ethereum"
	case strings.HasPrefix(lower, "bc1"), strings.HasPrefix(lower, "tb1"), strings.HasPrefix(lower, "bcrt1"):
		of = "Bitcoin"
	case n == 34 && signWith[0] == 'T' && only(base58Digits):
		of = "Tron"
	case n >= 26 && n <= 35 && strings.IndexByte("13mn2", signWith[0]) >= 0 && only(base58Digits):
		of = "Bitcoin"
	case (n == 43 || n == 44) && only(base58Digits):
		of = "Solana"
	}
	if of == "" || strings.EqualFold(of, chain) {
		return ""
	}
	return "; this looks like an address of " + of + ", and the key is needed for " + chain
}
