package evm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/params"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// listed is an address in a public list. Chain 0: on every chain.
type listed struct {
	Source, Name, Address string
	Chain                 uint64
}

// unlisted are known contracts that are in no public list of a package manager, with
// their sources.
var unlisted = map[string]string{
	"deposit contract on 17000":                  "Holesky's genesis block; go-ethereum 1.17 has no longer its configuration",
	"withdrawal requests (EIP-7002) on 17000":    "EIP-7002",
	"consolidation requests (EIP-7251) on 17000": "EIP-7251",
	"Permit2 on 324":                             "permit2Address of Uniswap's permit2-sdk",
	"Permit2 on 2741":                            "Solady, SafeTransferLib: on ZKsync or Abstract",
	"WXDAI on 100":                               "Gnosis Chain's documentation",
	"WETH on 324":                                "Uniswap/sdks, sdk-core's weth9.ts",
	"WETH on 1301":                               "the same",
	"WETH on 7777777":                            "the same",
	"WETH on 34443":                              "a predeploy of the OP stack; defolym3/do3-sdk-core, weth9.ts",
	"WETH on 534352":                             "baseswapfi/sdk-core, weth9.ts",
	"WS on 146":                                  "roycoprotocol/royco-sdk, token map",
	"WETH on 2741":                               "ProjectOpenSea/opensea-js, getNativeWrapTokenAddress",
	"WMON on 143":                                "the same",
	"WFLOW on 747":                               "the same",
	"WSEI on 1329":                               "the same",
	"WAPE on 33139":                              "the same",
	"WBERA on 80094":                             "the same",
	"WMNT on 5000":                               "DeBank's list of chains, as copied by IQAIcom/mcp-debank at c2c626ea, chains.ts",
	"WCRO on 25":                                 "the same",
	"WPLS on 369":                                "the same",
	"WGLMR on 1284":                              "the same",
	"WKAIA on 8217":                              "Kaia's documentation of the gas-free swap of USDT to KAIA",

	// Contracts that anyone can drive.
	"Multicall on 1":                     "makerdao/multicall, README",
	"Multicall2 on 1":                    "makerdao/multicall, README; mds1/multicall",
	"Multicall3 on 324":                  "Uniswap/sdks, uniswapx-sdk's constants.ts",
	"Multicaller on 0":                   "Vectorized/multicaller, README: by CREATE2",
	"Multicaller with sender on 0":       "the same",
	"Multicaller with signer on 0":       "the same",
	"Across multicall handler on 1":      "Across' deployments",
	"Across multicall handler on 10":     "the same",
	"Across multicall handler on 137":    "the same",
	"Across multicall handler on 8453":   "the same",
	"Across multicall handler on 42161":  "the same",
	"Across multicall handler on 534352": "the same",
	"0x Settler on 1":                    "0xProject/0x-settler",
	"Uniswap V3 SwapRouter on 1":         "Uniswap's list of deployments of v3",
	"PancakeSwap smart router on 56":     "PancakeSwap's list of contracts",
	"PancakeSwap V2 router on 56":        "the same",
	"Uniswap V3 SwapRouter on 10":        "Uniswap's list of deployments of v3",
	"Uniswap V3 SwapRouter on 137":       "the same",
	"Uniswap V3 SwapRouter on 42161":     "the same",
}

// publicLists returns the addresses in testdata/addresses.json, each with its source,
// and go-ethereum's.
func publicLists(t *testing.T) (all []listed) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, "testdata/addresses.json"), &all)
	for _, config := range []*params.ChainConfig{params.MainnetChainConfig, params.SepoliaChainConfig, params.HoodiChainConfig} {
		for name, at := range map[string]string{
			"deposit contract":                  config.DepositContractAddress.Hex(),
			"withdrawal requests (EIP-7002)":    params.WithdrawalQueueAddress.Hex(),
			"consolidation requests (EIP-7251)": params.ConsolidationQueueAddress.Hex(),
		} {
			all = append(all, listed{Source: "go-ethereum params", Name: name, Address: at, Chain: config.ChainID.Uint64()})
		}
	}
	return all
}

// listName returns the name of a contract in the lists.
func listName(known *contract) string {
	if slices.Contains(known.sets, atWETH) {
		return "wrapped native"
	}
	return known.name
}

// TestKnownAddressesAgainstPublicLists checks that each built-in address is in a public
// list for each of its chains, or in unlisted, and that no list has another address for
// it. Sepolia's deposit contract, which takes tokens, is not known.
func TestKnownAddressesAgainstPublicLists(t *testing.T) {
	lists := publicLists(t)
	found := map[string]int{}
	for at, known := range contracts() {
		chains := known.chains
		if chains == nil {
			chains = []uint64{0}
		}
		for _, chain := range chains {
			name := fmt.Sprintf("%s on %d", known.name, chain)
			has := slices.ContainsFunc(lists, func(l listed) bool {
				return l.Name == listName(known) && l.Chain == chain && strings.EqualFold(l.Address, at.String())
			})
			if reason := unlisted[name]; has == (reason != "") {
				t.Errorf("%s, %s: listed %v, unlisted says %q", name, at, has, reason)
			}
			found[known.name]++
		}
	}
	for _, l := range lists {
		known := contracts()[hexAddress(l.Address)]
		for known != nil && known.also != nil && !slices.Contains(known.chains, l.Chain) {
			known = known.also
		}
		if known != nil && listName(known) != l.Name {
			t.Errorf("%s: %s has %s as %s", l.Source, l.Address, l.Name, known.name)
		}
		for at, known := range contracts() {
			if listName(known) == l.Name && slices.Contains(known.chains, l.Chain) && !strings.EqualFold(l.Address, at.String()) {
				t.Errorf("%s on %d: %s here, %s in %s", l.Name, l.Chain, at, l.Address, l.Source)
			}
		}
	}
	t.Logf("%d contracts at %d addresses; %d are in no list", len(found), len(contracts()), len(unlisted))
}

// TestFunctionsOfWETH: what is read at WETH is what WETH has. It takes any other call for a deposit, and
// does nothing of what its name says. What is read as it claims needs a permission anywhere.
func TestFunctionsOfWETH(t *testing.T) {
	network := &Network{ID: "eip155:1", ChainID: 1}
	var read []string
	for selector := range functions() {
		if f := network.functionAt(hexAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), selector); f != nil && f.at != asClaimed {
			read = append(read, f.signature)
		}
	}
	slices.Sort(read)
	if want := []string{"approve(address,uint256)", "deposit()", "transfer(address,uint256)",
		"transferFrom(address,address,uint256)", "withdraw(uint256)"}; !slices.Equal(read, want) {
		t.Errorf("%q, want %q", read, want)
	}
}
