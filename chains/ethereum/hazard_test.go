package ethereum_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore"
)

// anyChain is an authorization for every chain (EIP-7702).
var anyChain = list("80", "94"+strings.Repeat("11", 20), "08", "80", "01", "01")

// filler is data of so many bytes.
func filler(size int) string { return str(strings.Repeat("5b", size)) }

// hazardCases are well-formed transactions, each with the hazards it carries
// and, where it carries one, the whole detail of the first.
var hazardCases = []struct {
	name, raw string
	names     []string
	detail    string
}{
	{"transfer", typed("02", items2...), nil, ""},
	{"legacy", list(legacyItems...), []string{ethereum.HazardNoChainID},
		"the transaction names no chain: once signed, it can be sent on every chain on which the account has funds"},
	{"eip-155", list(eip155Items...), nil, ""},

	{"authorization for one chain", typed("04", items4...), nil, ""},
	{"authorization for every chain", typed("04", with(items4, 10, list(anyChain))...),
		[]string{ethereum.HazardAnyChainAuthorization}, "authorization 1 has chain id 0: it delegates the account on every chain"},
	{"second and third authorization for every chain", typed("04", with(items4, 10, list(authTuple, anyChain, anyChain))...),
		[]string{ethereum.HazardAnyChainAuthorization}, "authorization 2 has chain id 0: it delegates the account on every chain"},

	{"creation", typed("02", with(items2, 6, "80")...), nil, ""},
	{"creation of nothing", typed("02", with(with(items2, 6, "80"), 8, "80")...), []string{ethereum.HazardEmptyCreation},
		"there is no recipient and no code: it would create an empty contract, and its value would be lost"},
	{"transfer without data", typed("02", with(items2, 8, "80")...), nil, ""},
	{"legacy creation of nothing", list(with(with(legacyItems, 4, "80"), 6, "80")...),
		[]string{ethereum.HazardNoChainID, ethereum.HazardEmptyCreation},
		"the transaction names no chain: once signed, it can be sent on every chain on which the account has funds"},

	{"gas at the cap", typed("02", with(items2, 5, "8401000000")...), nil, ""},
	{"gas over the cap, mainnet", typed("02", with(items2, 5, "8401000001")...), []string{ethereum.HazardGasOverCap},
		"gas 16777217 is over the cap of 16777216 (EIP-7825): the network does not include it"},
	{"gas over the cap, Holesky", typed("01", with(with(items1, 1, "824268"), 4, "8401000001")...), []string{ethereum.HazardGasOverCap},
		"gas 16777217 is over the cap of 16777216 (EIP-7825): the network does not include it"},
	{"gas over the cap, Sepolia", list(with(with(eip155Items, 7, "83aa36a7"), 3, "8401000001")...), []string{ethereum.HazardGasOverCap},
		"gas 16777217 is over the cap of 16777216 (EIP-7825): the network does not include it"},
	{"gas over the cap, Hoodi", typed("03", with(with(items3, 1, "83088bb0"), 5, "8401000001")...), []string{ethereum.HazardGasOverCap},
		"gas 16777217 is over the cap of 16777216 (EIP-7825): the network does not include it"},
	{"gas over the cap, another chain", typed("02", with(with(items2, 1, "0a"), 5, "8401000001")...), nil, ""},

	// 115 bytes come to the data of this transaction once it is signed: type
	// 1, list header 4, data header 4, the other items 39, yParity 1, r and s
	// 33 each.
	{"at the size limit", typed("02", with(items2, 8, filler(128<<10-115))...), nil, ""},
	{"one byte over it", typed("02", with(items2, 8, filler(128<<10-114))...), []string{ethereum.HazardOversize},
		"131073 bytes once signed are over 131072: nodes do not relay it"},
}

func TestHazards(t *testing.T) {
	for _, c := range hazardCases {
		t.Run(c.name, func(t *testing.T) {
			chaintest.CheckHazards(t, hazardsOf(t, ethereum.Limits{}, c.raw), c.names, c.detail)
		})
	}
}

// TestHazardLimits sets the bounds that are configurable.
func TestHazardLimits(t *testing.T) {
	limits := ethereum.Limits{GasCap: 59_999, MaxSize: 113}
	names := []string{ethereum.HazardGasOverCap, ethereum.HazardOversize}
	chaintest.CheckHazards(t, hazardsOf(t, limits, typed("02", items2...)), names,
		"gas 60000 is over the cap of 59999 (EIP-7825): the network does not include it")
	limits = ethereum.Limits{GasCap: 60_000, MaxSize: 114}
	chaintest.CheckHazards(t, hazardsOf(t, limits, typed("02", items2...)), nil, "")
}

// TestHazardNames makes sure that the closed list has every name there is.
func TestHazardNames(t *testing.T) {
	var seen []string
	for _, c := range hazardCases {
		seen = append(seen, c.names...)
	}
	chaintest.CheckAllSeen(t, ethereum.Chain{}, seen)
}

func hazardsOf(t *testing.T, limits ethereum.Limits, raw string) []chains.Hazard {
	t.Helper()
	tx, err := ethereum.New(limits).Parse(chaintest.Unhex(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	return tx.Hazards(keystore.PublicKey{})
}
