package tempo_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
)

// secret is the key of the vectors, for which summaries are shown.
const secret = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"

// shown are further transactions whose summaries are worth a look.
func shown(t *testing.T) map[string][]byte {
	input := "b844" + "a9059cbb" + strings.Repeat("00", 12) + someone[2:] + strings.Repeat("00", 29) + "0f4240"
	expiring := with(with(with(items, nonceKey, max256), nonce, "65"), validBefore, "84713fb300")
	p256 := strings.Repeat("11", 64) + strings.Repeat("22", 64)
	inKeychain := strings.Repeat("33", 20) + rBytes + sBytes + "1b"
	transactions := map[string][]byte{
		"sponsored":    sponsoredBy(t, strings.Repeat("02", 32), address(t, secret)),
		"payer_itself": sponsoredBy(t, secret, address(t, secret)),
	}
	for name, items := range map[string][]string{
		"batch_of_three":       with(items, calls, list(list(alphaUSD, "80", input), transfer, list(someone, "7b", "80"))),
		"creation":             with(items, calls, list(creation, transfer)),
		"creation_nonce_key":   with(with(items, calls, list(creation)), nonceKey, "05"),
		"expiring_nonce":       expiring,
		"window_beyond_9999":   with(with(items, validBefore, max64), validAfter, "01"),
		"access_list":          with(items, accessList, list(list(someone, list(max256, max256)), list(alphaUSD, "c0"))),
		"placeholder":          with(items, feePayer, "00"),
		"no_fee_token":         with(items, feeToken, "80"),
		"payer_signed_another": with(items, feePayer, payer),
		"unknown_chain":        with(items, chainID, "8301e240"),
		"all_hazards": append(with(with(with(items, nonceKey, "a05b"+strings.Repeat("00", 31)), gas, "8401c9c381"), feeToken, someone),
			list(list(append([]string{"82a5bf", "80", someone}, "80", "80", "80", "80", "01")...), secp256k1)),
		"key_full":                withKey(fullKey...),
		"key_unlimited":           withKey(plainKey...),
		"key_nothing":             withKey(append(plainKey[:3:3], "80", "c0", "c0")...),
		"key_any_call":            withKey(append(plainKey[:3:3], "80", list(list(alphaUSD, "64", max64)))...),
		"key_another_admin":       withKey(append(plainKey[:3:3], "80", "80", "80", "80", "01", alphaUSD)...),
		"authorizations":          with(items, authorizationList, list(authorization, list("80", someone, "08", "b882"+"01"+p256+"01"))),
		"authorizations_web":      with(items, authorizationList, list(list("01", someone, "08", "b8a6"+"02"+strings.Repeat("44", 37)+p256))),
		"authorizations_keychain": with(items, authorizationList, list(list("82a5bf", someone, "08", "b856"+"04"+inKeychain))),
		"authorization_ends":      with(items, authorizationList, list(list("82a5bf", "94"+strings.Repeat("00", 20), "08", secp256k1))),
		"payer_no_account":        with(items, feePayer, list("80", "a0"+noPoint, "a0"+sBytes)),
	} {
		transactions[name] = chaintest.Unhex(t, typed(items...))
	}
	return transactions
}

// TestSummary compares what is shown of each transaction, and its digest, with
// testdata/summary.
func TestSummary(t *testing.T) {
	transactions := shown(t)
	for name, v := range evmtest.Vectors(t) {
		transactions[name] = chaintest.Unhex(t, v.Unsigned)
	}
	chaintest.Summaries(t, tempo.Chain{}, transactions, evmtest.Key(t, secret))
}
