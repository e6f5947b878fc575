package tempo_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/keystore"
)

// hazardCases are well-formed transactions, each with the hazards it carries
// and, where it carries one, the whole detail of the first.
var hazardCases = []struct {
	name, raw string
	names     []string
	detail    string
}{
	{"transfer", typed(items...), nil, ""},
	{"no fee token", typed(with(items, feeToken, "80")...), nil, ""},

	{"nonce key 1", typed(with(items, nonceKey, "01")...), nil, ""},
	{"nonce key that begins with 0x5b", typed(with(items, nonceKey, "a05b"+strings.Repeat("00", 31))...),
		[]string{tempo.HazardReservedNonceKey}, "the nonce key begins with 0x5b, which belongs to the subblocks of validators"},
	{"nonce key with 0x5b as its second byte", typed(with(items, nonceKey, "9f5b"+strings.Repeat("00", 30))...), nil, ""},
	{"nonce key 0x5b", typed(with(items, nonceKey, "5b")...), nil, ""},
	{"expiring nonce", typed(with(with(with(items, nonceKey, max256), nonce, "80"), validBefore, "01")...), nil, ""},

	{"gas at the cap", typed(with(items, gas, "8401c9c380")...), nil, ""},
	{"gas over the cap", typed(with(items, gas, "8401c9c381")...),
		[]string{tempo.HazardGasOverCap}, "gas 30000001 is over the cap of 30000000: the network does not include it"},

	{"key without limits", plus(), []string{tempo.HazardUnlimitedKey}, unlimited},
	{"key with limits left out, expiry there", plus("01"), []string{tempo.HazardUnlimitedKey}, unlimited},
	{"key with limits 80", plus("01", "80", "c0"), []string{tempo.HazardUnlimitedKey}, unlimited},
	{"key that may spend nothing", plus("01", "c0"), nil, ""},
	{"key with a limit", plus("01", list(list(alphaUSD, "64"))), nil, ""},
	{"key with a limit of 2^256-1", plus("01", list(list(alphaUSD, max256))), nil, ""},

	{"admin key", plus("80", "80", "80", "80", "01"), []string{tempo.HazardUnlimitedKey, tempo.HazardAdminKey}, unlimited},
	{"admin key with limits", key(fullKey...), []string{tempo.HazardAdminKey},
		"key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 becomes an admin of the account: it can authorize and revoke other keys"},

	{"fee token that is no TIP-20 token", typed(with(items, feeToken, someone)...), []string{tempo.HazardForeignFeeToken},
		"fee token 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 is no TIP-20 token (20c0…): the fee cannot be paid in it"},
	{"fee token that begins with 20c0 only", typed(with(items, feeToken, "9420c0"+strings.Repeat("11", 18))...), []string{tempo.HazardForeignFeeToken},
		"fee token 0x20c0111111111111111111111111111111111111 is no TIP-20 token (20c0…): the fee cannot be paid in it"},
	{"last byte of the prefix is not 0", typed(with(items, feeToken, "9420c0"+strings.Repeat("00", 9)+"01"+strings.Repeat("00", 8))...),
		[]string{tempo.HazardForeignFeeToken},
		"fee token 0x20c0000000000000000000010000000000000000 is no TIP-20 token (20c0…): the fee cannot be paid in it"},
	{"the same, sponsored", typed(with(with(items, feeToken, someone), feePayer, payer)...), []string{tempo.HazardForeignFeeToken},
		"fee token 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 is no TIP-20 token (20c0…): the fee cannot be paid in it"},

	{"several", typed(append(with(with(with(items, nonceKey, "a05b"+strings.Repeat("00", 31)), gas, "8401c9c381"), feeToken, someone),
		list(list(plainKey...), secp256k1))...),
		[]string{tempo.HazardReservedNonceKey, tempo.HazardGasOverCap, tempo.HazardUnlimitedKey, tempo.HazardForeignFeeToken},
		"the nonce key begins with 0x5b, which belongs to the subblocks of validators"},
}

const unlimited = "key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 may spend all that the account has: its authorization sets no limits"

func TestHazards(t *testing.T) {
	for _, c := range hazardCases {
		t.Run(c.name, func(t *testing.T) {
			chaintest.CheckHazards(t, hazardsOf(t, tempo.Limits{}, c.raw), c.names, c.detail)
		})
	}
}

// TestHazardLimits sets the bound that is configurable.
func TestHazardLimits(t *testing.T) {
	chaintest.CheckHazards(t, hazardsOf(t, tempo.Limits{GasCap: 59_999}, typed(items...)), []string{tempo.HazardGasOverCap},
		"gas 60000 is over the cap of 59999: the network does not include it")
	chaintest.CheckHazards(t, hazardsOf(t, tempo.Limits{GasCap: 60_000}, typed(items...)), nil, "")
}

// TestHazardNames makes sure that the closed list has every name there is.
func TestHazardNames(t *testing.T) {
	var seen []string
	for _, c := range hazardCases {
		seen = append(seen, c.names...)
	}
	chaintest.CheckAllSeen(t, tempo.Chain{}, seen)
}

func hazardsOf(t *testing.T, limits tempo.Limits, raw string) []chains.Hazard {
	t.Helper()
	tx, err := tempo.New(limits).Parse(chaintest.Unhex(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	return tx.Hazards(keystore.PublicKey{})
}
