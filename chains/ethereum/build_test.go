package ethereum_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
)

// The RLP of items, in hex.
var list, str, with = evmtest.List, evmtest.Str, evmtest.With

// The items of a small valid transaction of each type, in hex, each with its RLP
// header. Tests replace some of them.
var (
	recipient = "94" + "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"
	blobHash  = "a0" + "01" + strings.Repeat("ab", 31)
	authTuple = list("01", "94"+strings.Repeat("11", 20), "08", "80",
		"a01989e8aa75838068e4a79a4ab483fea0ec164036c4a90722369108a8b34a23f5",
		"a0562c90aa13e1d32ba3d9867703da8bf8ddad63d04ec15cbfc6fd38e8d11b4ed9")

	//                          nonce gasPrice        gas       to        value data
	legacyItems = []string{"07", "8504a817c800", "82ea60", recipient, "7b", "84deadbeef"}
	eip155Items = append(slices.Clone(legacyItems), "01", "80", "80")
	//                     chainId nonce gasPrice     gas       to        value data    accessList
	items1 = []string{"01", "07", "8504a817c800", "82ea60", recipient, "7b", "84deadbeef", "c0"}
	//                     chainId nonce tip          cap             gas       to        value data    accessList
	items2 = []string{"01", "07", "843b9aca00", "8504a817c800", "82ea60", recipient, "7b", "84deadbeef", "c0"}
	items3 = append(slices.Clone(items2), "07", list(blobHash))
	items4 = append(slices.Clone(items2), list(authTuple))
)

// typed returns a transaction of a type.
func typed(kind string, items ...string) string { return kind + list(items...) }

// TestBuildersAreValid checks that the transactions which other tests change are
// accepted: otherwise those tests would prove nothing.
func TestBuildersAreValid(t *testing.T) {
	for name, text := range map[string]string{
		"legacy":  list(legacyItems...),
		"eip-155": list(eip155Items...),
		"1":       typed("01", items1...),
		"2":       typed("02", items2...),
		"3":       typed("03", items3...),
		"4":       typed("04", items4...),
	} {
		if _, err := (ethereum.Chain{}).Parse(chaintest.Unhex(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
