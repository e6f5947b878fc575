package tempo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// swapFor is a call of the exchange that sells 9 units of a token for at least so many of another.
func swapFor(least uint64) string {
	return list("94"+"dec0000000000000000000000000000000000000", "80", str("f8856c0f"+argument(alphaUSD)+argument(someone)+number(9)+number(least)))
}

// hazardCases are well-formed transactions, each with its hazards and the whole detail
// of the first, if any.
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
	{"expiring nonce", typed(with(with(items, nonceKey, max256), validBefore, "01")...), nil, ""},

	{"gas at the cap", typed(with(items, gas, "8401c9c380")...), nil, ""},
	{"gas over the cap", typed(with(items, gas, "8401c9c381")...),
		[]string{tempo.HazardGasOverCap}, "gas 30000001 is over the cap of 30000000: the network does not include it"},

	{"key without restrictions", plus(), []string{tempo.HazardUnscopedKey, tempo.HazardUnlimitedKey}, anyCall},
	{"key with limits left out, expiry there", plus("01"), []string{tempo.HazardUnscopedKey, tempo.HazardUnlimitedKey}, anyCallUntil},
	{"key with limits 80", plus("01", "80", "c0"), []string{tempo.HazardUnlimitedKey}, unlimited},
	{"key that may spend nothing and call anything", plus("01", "c0"), []string{tempo.HazardUnscopedKey},
		"key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 may make any call: limits bind TIP-20 spending only"},
	{"key that never expires", plus("80", "c0", "c0"), []string{tempo.HazardUnscopedKey}, "key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 never expires"},
	{"key that may do nothing", plus("01", "c0", "c0"), nil, ""},
	{"key with a limit", limitedTo("64"), nil, ""},
	{"limit of a billion dollars", limitedTo("87038d7ea4c68000"), nil, ""},
	{"limit of a unit more", limitedTo("87038d7ea4c68001"), []string{tempo.HazardUnlimitedKey}, exhausts},
	{"limit of 2^96", limitedTo("8d01" + strings.Repeat("00", 12)), []string{tempo.HazardUnlimitedKey}, exhausts},
	{"limit of 2^128-1", limitedTo("90" + strings.Repeat("ff", 16)), []string{tempo.HazardUnlimitedKey}, exhausts},
	{"a million dollars every second", limitedTo("85e8d4a51000", "01"), []string{tempo.HazardUnlimitedKey}, exhausts},
	{"a million dollars every day", limitedTo("85e8d4a51000", "83015180"), nil, ""},
	{"a billion dollars every year and a second", limitedTo("87038d7ea4c68000", "8401e13381"), nil, ""},
	{"a limit among others", plus("01", list(list(someone, "64"), list(alphaUSD, "8d01"+strings.Repeat("00", 12))), "c0"),
		[]string{tempo.HazardUnlimitedKey}, exhausts},

	{"admin key", key(adminKey...), []string{authorityChange, tempo.HazardUnlimitedKey},
		"key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 becomes an admin of the account: it can authorize and revoke other keys"},

	{"authorizeAdminKey by a call", calling("9a424307" + argument(someone) + number(0) + number(0)), []string{authorityChange},
		"key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 becomes an admin of the account: it can authorize and revoke other keys"},
	{"authorizeKey by a call, before T3, without limits", calling("54063a55" + argument(someone) + number(0) + number(9) + number(0) + number(0xa0) + number(0)),
		[]string{tempo.HazardUnscopedKey, tempo.HazardUnlimitedKey}, anyCallUntil},
	{"authorizeKey by a call, restricted", calling("980a6025" + argument(someone) + number(0) + restrictions(1, 100)), nil, ""},
	{"authorizeKey by a call, with a limit that nothing exhausts", calling("980a6025" + argument(someone) + number(0) + restrictions(1, 1_000_000_000_000_001)),
		[]string{tempo.HazardUnlimitedKey}, exhausts},
	{"authorizeKey by a call, without limits", calling("980a6025" + argument(someone) + number(0) + restrictions(0, 100)), []string{tempo.HazardUnlimitedKey}, unlimited},
	{"updateSpendingLimit", calling("cbbb4480" + argument(someone) + argument(alphaUSD) + number(100)), nil, ""},
	{"updateSpendingLimit to what nothing exhausts", calling("cbbb4480" + argument(someone) + argument(alphaUSD) + number(1_000_000_000_000_001)),
		[]string{tempo.HazardUnlimitedKey}, exhausts},
	{"setAllowedCalls", calling("f5456703" + argument(someone) + number(0x40) + number(0)), []string{authorityChange},
		"key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 may make more calls for the account"},
	{"cut off arguments", calling("9a424307"), []string{blindCall}, blind("0x9a424307")},
	{"unknown function of the keychain", calling("12345678"), []string{blindCall}, blind("0x12345678")},
	{"revokeKey", calling("5ae7ab32" + argument(someone)), nil, ""},
	{"removeAllowedCalls", calling("f3941811" + argument(someone) + argument(someone)), nil, ""},
	{"behind a transfer", typed(with(items, calls, list(transfer, list(keychain, "80", str("9a424307"+argument(someone)+number(0)+number(0)))))...),
		[]string{authorityChange}, "key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 becomes an admin of the account: it can authorize and revoke other keys"},
	{"by a delegate", typed(with(items, calls, list(list(alphaUSD, "80", str("095ea7b3"+argument(someone)+number(1_000_000_000_000_001)))))...), []string{"tempo/unlimited-approval"},
		"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 may take all of the token 0x20C0000000000000000000000000000000000001 that signer has, now and later"},
	{"a swap without a minimum", typed(with(items, calls, list(swapFor(0)))...), []string{tempo.HazardNoMinimum},
		"the swap may give nothing: neither it nor what follows has a minimum of token 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"},
	{"a swap with one", typed(with(items, calls, list(swapFor(1)))...), nil, ""},
	{"the second of two swaps without one", typed(with(items, calls, list(swapFor(1), swapFor(0)))...), []string{tempo.HazardNoMinimum},
		"the swap may give nothing: neither it nor what follows has a minimum of token 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"},
	{"to nobody", typed(with(items, calls, list(list(alphaUSD, "80", str("a9059cbb"+number(0)+number(1)))))...), []string{"tempo/burn"},
		"what goes to 0x0000000000000000000000000000000000000000 is lost"},
	{"a refund of a Safe", calling("6a761202" + argument(someone) + number(0) + number(0x140) + number(0) + number(0) + number(0) + number(5) + number(0) + number(0) + number(0x160) + number(0) + number(0)),
		[]string{"tempo/blind-call", "tempo/refund"}, blind("execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)")},
	{"brought to Multicall3, and taken back by the next call", typed(with(items, calls, list(toMulticall, fromMulticall))...), nil, ""},
	{"brought to Multicall3 after the call that takes it", typed(with(items, calls, list(fromMulticall, toMulticall))...), []string{"tempo/burn"},
		"what is left at 0xcA11bde05977b3631167028862bE2a173976CA11 can be taken by anyone"},
	{"with a value", typed(with(items, calls, list(list(someone, "01", "80")))...), []string{tempo.HazardNeverIncluded},
		"call 1 has a value: no account holds a native coin here, and no node takes it"},
	{"fee of a hundred dollars", typed(with(with(items, maxFeePerGas, "87038d7ea4c68000"), gas, "830186a0")...), nil, ""},
	{"fee of more", typed(with(with(items, maxFeePerGas, "87038d7ea4c68001"), gas, "830186a0")...), []string{tempo.HazardHighFee}, "the fee is up to 100.0000000000001 USD, over 100"},
	{"fee of more, sponsored", typed(with(with(with(items, maxFeePerGas, "87038d7ea4c68001"), gas, "830186a0"), feePayer, "00")...), nil, ""},

	{"delegation on one chain", typed(with(items, authorizationList, list(authorization))...), nil, ""},
	{"delegation on every chain", typed(with(items, authorizationList, list(authorization, list("80", someone, "08", secp256k1)))...),
		[]string{tempo.HazardAnyChainAuthorization},
		"authorization 2 delegates to 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 on every chain, Ethereum included: its signature is that of EIP-7702"},
	{"delegation on every chain by a keychain, which the network skips",
		typed(with(items, authorizationList, list(list("80", someone, "08", "b856"+"04"+strings.Repeat("33", 20)+rBytes+sBytes+"1b")))...), nil, ""},

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
		[]string{tempo.HazardReservedNonceKey, tempo.HazardGasOverCap, tempo.HazardForeignFeeToken, tempo.HazardUnscopedKey, tempo.HazardUnlimitedKey},
		"the nonce key begins with 0x5b, which belongs to the subblocks of validators"},
}

const unlimited = "key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 may spend all that the account has: it has no limits"

const (
	exhausts     = "key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 has a limit for 0x20C0000000000000000000000000000000000001 that nothing exhausts"
	anyCall      = "key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 may make any call, and never expires: limits bind TIP-20 spending only"
	anyCallUntil = "key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 may make any call: limits bind TIP-20 spending only"
	keychain     = "94" + "aaaaaaaa00000000000000000000000000000000"
)

// Calls that bring 5 units of a token to Multicall3, and have it send 5 to someone.
var (
	multicall     = "94" + "ca11bde05977b3631167028862be2a173976ca11"
	toMulticall   = list(alphaUSD, "80", str("a9059cbb"+argument(multicall)+number(5)))
	fromMulticall = list(multicall, "80", str("252dba42"+number(0x20)+number(1)+number(0x20)+argument(alphaUSD)+number(0x40)+number(0x44)+
		"a9059cbb"+argument(someone)+number(5)+strings.Repeat("00", 28)))
)

// limitedTo returns a key with an expiry, a limit and no allowed call.
func limitedTo(limit ...string) string {
	return plus("01", list(list(append([]string{alphaUSD}, limit...)...)), "c0")
}

// calling returns a call of the AccountKeychain.
func calling(input string) string {
	return typed(with(items, calls, list(list(keychain, "80", str(input))))...)
}

func blind(function string) string {
	return "signer calls 0xaAAAaaAA00000000000000000000000000000000 (function " + function + "): what that does is not known, and it may do anything that the caller may"
}

// argument is an item with an address as an argument of a call, number one of a number.
func argument(item string) string { return strings.Repeat("00", 12) + item[2:] }
func number(n uint64) string      { return fmt.Sprintf("%064x", n) }

// restrictions are those of authorizeKey: until second 9, one limit, no call.
func restrictions(enforced, limit uint64) string {
	return number(0x60) + number(9) + number(enforced) + number(0xa0) + number(0) + number(0x120) +
		number(1) + argument(alphaUSD) + number(limit) + number(0) + number(0)
}

// The hazards of effects.
const (
	authorityChange = "tempo/authority-change"
	blindCall       = "tempo/blind-call"
)

func TestHazards(t *testing.T) {
	for _, c := range hazardCases {
		t.Run(c.name, func(t *testing.T) {
			chaintest.CheckHazards(t, hazardsOf(t, tempo.Limits{}, c.raw), c.names, c.detail)
		})
	}
}

// TestHazardLimits sets the configurable bound.
func TestHazardLimits(t *testing.T) {
	chaintest.CheckHazards(t, hazardsOf(t, tempo.Limits{GasCap: 59_999}, typed(items...)), []string{tempo.HazardGasOverCap},
		"gas 60000 is over the cap of 59999: the network does not include it")
	chaintest.CheckHazards(t, hazardsOf(t, tempo.Limits{GasCap: 60_000}, typed(items...)), nil, "")
}

// TestHazardNames checks that the list of names is complete.
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
	testenv.Must(t, err)
	return tx.Hazards()
}
