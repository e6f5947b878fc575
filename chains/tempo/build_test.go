package tempo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
)

// The RLP of items, in hex.
var list, str, with = evmtest.List, evmtest.Str, evmtest.With

// The items of a transaction by number.
const (
	chainID = 1 + iota
	maxPriorityFeePerGas
	maxFeePerGas
	gas
	calls
	accessList
	nonceKey
	nonce
	validBefore
	validAfter
	feeToken
	feePayer
	authorizationList
)

// The items of a small valid transaction in hex, each with its RLP header. Tests
// replace some of them.
var (
	someone   = "94" + "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"
	alphaUSD  = "94" + "20c0000000000000000000000000000000000001"
	transfer  = list(alphaUSD, "80", "84372500ab") // claimRewards()
	creation  = list("80", "80", "8260fe")
	secp256k1 = "b841" + rBytes + sBytes + "1b" // over nothing in particular
	rBytes    = "1989e8aa75838068e4a79a4ab483fea0ec164036c4a90722369108a8b34a23f5"
	sBytes    = "562c90aa13e1d32ba3d9867703da8bf8ddad63d04ec15cbfc6fd38e8d11b4ed9"
	payer     = list("80", "a0"+rBytes, "a0"+sBytes)

	authorization = list("82a5bf", someone, "08", secp256k1)

	// chainId, keyType, keyId
	plainKey = []string{"82a5bf", "01", someone}
	// expiry, limits, scopes, witness, isAdmin, account
	fullKey = append(slices.Clone(plainKey), "84713fb300", list(list(alphaUSD, "64"), list(someone, "80", "823600")),
		list(list(alphaUSD, list(list("84a9059cbb", list(someone)), list("84095ea7b3", "c0"))), list(someone, "c0")),
		"a0"+strings.Repeat("ab", 32), "80", someone)
	adminKey = append(slices.Clone(plainKey), "80", "80", "80", "80", "01")

	items = []string{"82a5bf", "01", "07", "82ea60", list(transfer), "c0", "80", "03", "80", "80", alphaUSD, "80", "c0"}
)

// withKey returns the items of a transaction that authorizes a key.
func withKey(key ...string) []string {
	return append(slices.Clone(items), list(list(key...), secp256k1))
}

// typed returns a transaction of type 0x76.
func typed(items ...string) string { return "76" + list(items...) }

// TestBuildersAreValid checks that the transactions which other tests change are
// accepted: otherwise those tests would prove nothing.
func TestBuildersAreValid(t *testing.T) {
	for name, text := range map[string]string{
		"plain":         typed(items...),
		"creation":      typed(with(items, calls, list(creation, transfer))...),
		"payer":         typed(with(items, feePayer, payer)...),
		"placeholder":   typed(with(items, feePayer, "00")...),
		"authorization": typed(with(items, authorizationList, list(authorization))...),
		"plain key":     typed(withKey(plainKey...)...),
		"full key":      typed(withKey(fullKey...)...),
	} {
		if _, err := (tempo.Chain{}).Parse(chaintest.Unhex(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := tempomodel.Refuses(chaintest.Unhex(t, text)); err != nil {
			t.Errorf("%s: the model refuses it: %v", name, err)
		}
	}
}
