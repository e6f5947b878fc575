package ethereum_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// anyChain is an authorization for every chain (EIP-7702).
var anyChain = list("80", "94"+strings.Repeat("11", 20), "08", "80", "01", "01")

// filler returns data of a length.
func filler(size int) string { return str(strings.Repeat("5b", size)) }

const (
	blind     = ethereum.Name + "/blind-call"
	unlimited = ethereum.Name + "/unlimited-approval"
	burn      = ethereum.Name + "/burn"
	refund    = ethereum.Name + "/refund"
	authority = ethereum.Name + "/authority-change"
)

// signer is the key for which hazards are computed, and attacker is another party.
const (
	signerSecret = "4646464646464646464646464646464646464646464646464646464646464646" // EIP-155's example
	signer       = "9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f"
	attacker     = "badbadbadbadbadbadbadbadbadbadbadbadbadb"
)

const (
	overCap = "gas 4294967296 is over the cap of 4294967295 (EIP-7825, Osaka: 16777216; EIP-8037, Amsterdam: 4294967295): the network does not include it"

	blindDetail = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F calls 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 (function 0xdeadbeef): " +
		"what that does is not known, and it may do anything that the caller may"
	ownershipDetail = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F calls 0x1111111111111111111111111111111111111111 (function transferOwnership(address)): " +
		"what that does is not known, and it may do anything that the caller may"
	anyChainDetail = "the transaction names no chain: once signed, it can be sent on every chain on which the account has funds"
)

// word is an argument of a call.
func word(hex string) string { return strings.Repeat("0", 64-len(hex)) + hex }

// calling returns a transaction of type 2 on mainnet with data, to 20 times 11.
func calling(data string) string {
	return typed("02", with(with(with(items2, 8, str(data)), 7, "80"), 6, "94"+strings.Repeat("11", 20))...)
}

const safeFunction = "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)"

// execTransaction returns a call of a Safe that calls the attacker without data, and pays
// for gas at a price.
func execTransaction(price string) string {
	return "6a761202" + word(attacker) + word("0") + word("0140") + word("0") + word("0") + word("0") + word(price) + word("0") + word("0") + word("0160") + word("0") + word("0")
}

// hazardCases are well-formed transactions, each with its hazards for signer and the
// whole detail of the first, if any.
var hazardCases = []struct {
	name, raw string
	names     []string
	detail    string
}{
	{"transfer", typed("02", with(items2, 8, "80")...), nil, ""},
	{"call of an unknown function", typed("02", items2...), []string{blind}, blindDetail},
	{"legacy", list(legacyItems...), []string{ethereum.HazardNoChainID, blind}, anyChainDetail},
	{"eip-155", list(with(eip155Items, 6, "80")...), nil, ""},

	{"authorization for one chain", typed("04", with(items4, 8, "80")...), nil, ""},
	{"authorization for every chain", typed("04", with(with(items4, 8, "80"), 10, list(anyChain))...),
		[]string{ethereum.HazardAnyChainAuthorization}, "authorization 1 has chain id 0: it delegates the account on every chain"},
	{"second and third authorization for every chain", typed("04", with(with(with(items4, 5, "830f4240"), 8, "80"), 10, list(authTuple, anyChain, anyChain))...),
		[]string{ethereum.HazardAnyChainAuthorization}, "authorization 2 has chain id 0: it delegates the account on every chain"},
	{"delegation of the signer's account",
		"04f8830180018504a817c800830186a0949d8a62f656a8d1615c1294fd71e9cfb3e4855a4f8080c0f85cf85a0194badbadbadbadbadbadbadbadbadbadbadbadbadb0180a0cbafd596cef89cc0574499707cdd8acebb4557f39a937305bd1043d64e1fc2fca06a75aeed0979f118a8a4346d149b30f0962238a30a4f7a59df8f8da123cd3b61",
		[]string{ethereum.HazardDelegation}, "0xbaDBAdbADbaDBADBAdBaDbaDbadBAdbaDbaDbadb gets control of 0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"},

	{"creation", typed("02", with(with(items2, 6, "80"), 5, "82d200")...), nil, ""},
	{"creation of nothing", typed("02", with(with(with(items2, 6, "80"), 8, "80"), 5, "82d200")...), []string{ethereum.HazardEmptyCreation},
		"there is no recipient and no code: it would create an empty contract, and its value would be lost"},
	{"legacy creation of nothing", list(with(with(legacyItems, 4, "80"), 6, "80")...),
		[]string{ethereum.HazardNoChainID, ethereum.HazardEmptyCreation}, anyChainDetail},

	{"gas over Osaka's cap, mainnet", typed("02", with(with(items2, 8, "80"), 5, "8401000001")...), nil, ""},
	{"gas at the cap", typed("02", with(with(with(with(items2, 8, "80"), 3, "80"), 4, "01"), 5, "84ffffffff")...), nil, ""},
	{"gas over the cap, mainnet", typed("02", with(with(with(with(items2, 8, "80"), 3, "80"), 4, "01"), 5, "850100000000")...), []string{ethereum.HazardGasOverCap}, overCap},
	{"gas over the cap, Holesky", typed("01", with(with(with(with(items1, 7, "80"), 1, "824268"), 3, "01"), 4, "850100000000")...), []string{ethereum.HazardGasOverCap}, overCap},
	{"gas over the cap, Hoodi", typed("03", with(with(with(with(with(items3, 8, "80"), 1, "83088bb0"), 3, "80"), 4, "01"), 5, "850100000000")...), []string{ethereum.HazardGasOverCap}, overCap},
	// EIP-8037 is active on Sepolia since 2026-10-06; the bytes are from the audit.
	{"gas over 2^24, Sepolia", "02ec83aa36a701018504a817c8008401312d009435353535353535353535353535353535353535350180c0808080", nil, ""},
	{"gas over the cap, Sepolia", list(with(with(with(eip155Items, 6, "80"), 7, "83aa36a7"), 3, "850100000000")...), []string{ethereum.HazardGasOverCap},
		"gas 4294967296 is over the cap of 4294967295 (EIP-8037, Amsterdam): the network does not include it"},
	{"gas over the cap, a chain without one", typed("02", with(with(with(items2, 8, "80"), 1, "823039"), 5, "8401000001")...), nil, ""},

	// Signing adds 116 bytes to the data of this transaction: type 1, list header 4,
	// data header 4, the other items 40, yParity 1, r and s 33 each.
	{"at the size limit", typed("02", with(with(items2, 8, filler(128<<10-116)), 5, "83f00000")...), []string{blind}, strings.Replace(blindDetail, "deadbeef", "5b5b5b5b", 1)},
	{"one byte over it", typed("02", with(with(items2, 8, filler(128<<10-115)), 5, "83f00000")...), []string{ethereum.HazardOversize, blind},
		"131073 bytes once signed are over 131072: nodes do not relay it"},

	{"fee over the cap", typed("02", with(with(items2, 8, "80"), 4, "8809184e72a0000000")...), []string{ethereum.HazardHighFee},
		"the fee is up to 39321.6 ETH, over 0.5"},

	{"gas below 21000, which Amsterdam takes", typed("02", with(with(items2, 8, "80"), 5, "825207")...), nil, ""},
	{"gas below 12000", typed("02", with(with(items2, 8, "80"), 5, "822edf")...), []string{ethereum.HazardNeverIncluded},
		"gas 11999 is below the 12000 that the transaction costs before it runs (Osaka: 21000; Amsterdam: 12000)"},
	{"a kilobyte with gas for half of it", typed("02", with(with(items2, 8, filler(1024)), 5, "824e20")...), []string{ethereum.HazardNeverIncluded, blind},
		"gas 20000 is below the 61960 that the transaction costs before it runs (Osaka: 61960; Amsterdam: 77536)"},
	{"gas of 12000, Sepolia", typed("02", with(with(with(items2, 8, "80"), 1, "83aa36a7"), 5, "822ee0")...), nil, ""},
	{"gas below 12000, Sepolia", typed("02", with(with(with(items2, 8, "80"), 1, "83aa36a7"), 5, "822edf")...), []string{ethereum.HazardNeverIncluded},
		"gas 11999 is below the 12000 that the transaction costs before it runs (Amsterdam)"},
	{"gas below 12000, Optimism", typed("02", with(with(with(items2, 8, "80"), 1, "0a"), 5, "822edf")...), []string{ethereum.HazardNeverIncluded},
		"gas 11999 is below the 12000 that the transaction costs before it runs (Osaka: 21000; Amsterdam: 12000)"},
	{"gas below 12000, Celo, which counts it in another way", typed("02", with(with(with(items2, 8, "80"), 1, "82a4ec"), 5, "822edf")...), nil, ""},
	{"gas below 12000, a chain whose fork is not known", typed("02", with(with(with(items2, 8, "80"), 1, "823039"), 5, "822edf")...), nil, ""},
	{"init code over Osaka's limit", typed("02", with(with(with(items2, 6, "80"), 8, filler(49153)), 5, "83a00000")...), nil, ""},
	{"init code over the limit", typed("02", with(with(with(items2, 6, "80"), 8, filler(131073)), 5, "83f00000")...), []string{ethereum.HazardOversize, ethereum.HazardNeverIncluded},
		"131169 bytes once signed are over 131072: nodes do not relay it"},
	{"blob fee of 0", typed("03", with(with(items3, 8, "80"), 10, "80")...), []string{ethereum.HazardNeverIncluded},
		"maxFeePerBlobGas is 0: the fee of a blob is at least 1 wei"},
	{"value on Tempo", "02ef82107980018504a817c800830186a094badbadbadbadbadbadbadbadbadbadbadbadbadb880de0b6b3a764000080c0", []string{ethereum.HazardNeverIncluded},
		"there is no native asset on Tempo: no node accepts a value"},
	{"gas over the cap on Tempo", typed("02", with(with(with(with(items2, 7, "80"), 8, "80"), 1, "821079"), 5, "8401c9c381")...), []string{ethereum.HazardGasOverCap},
		"gas 30000001 is over the cap of 30000000 (Tempo): the network does not include it"},

	{"a swap for nothing", typed("02", with(with(with(items2, 6, "9466a9893cc07d91d95644aedd05d03f95e1dba8af"), 7, "80"), 8, "b901e4"+swapsFor("0"))...),
		[]string{ethereum.HazardNoMinimum}, "the swap may give nothing: neither it nor what follows has a minimum of token 0xdAC17F958D2ee523a2206206994597C13D831ec7"},
	{"a swap for 1 unit", typed("02", with(with(with(items2, 6, "9466a9893cc07d91d95644aedd05d03f95e1dba8af"), 7, "80"), 8, "b901e4"+swapsFor("1"))...), nil, ""},

	{"unlimited approval", calling("095ea7b3" + word(attacker) + word("1"+strings.Repeat("0", 24))), []string{unlimited},
		"0xbaDBAdbADbaDBADBAdBaDbaDbadBAdbaDbaDbadb may take all of the token 0x1111111111111111111111111111111111111111 that 0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F has, now and later"},
	{"approval below 2^96", calling("095ea7b3" + word(attacker) + word(strings.Repeat("f", 24))), nil, ""},
	{"value to nobody", typed("02", with(with(items2, 6, "94"+strings.Repeat("00", 20)), 8, "80")...), []string{burn},
		"what goes to 0x0000000000000000000000000000000000000000 is lost"},
	{"token to itself", calling("a9059cbb" + word(strings.Repeat("11", 20)) + word("05")), []string{burn},
		"what goes to 0x1111111111111111111111111111111111111111 is lost"},
	{"a token with no bytes for its recipient", calling("b88d4fde" + word(signer) + word(attacker) + word("05") + word("80") + word("0")), nil, ""},
	{"a token with bytes for its recipient", calling("b88d4fde" + word(signer) + word(attacker) + word("05") + word("80") + word("01") + "ab" + strings.Repeat("0", 62)), []string{blind},
		"0x1111111111111111111111111111111111111111 calls 0xbaDBAdbADbaDBADBAdBaDbaDbadBAdbaDbaDbadb (function safeTransferFrom(address,address,uint256,bytes)): what that does is not known, and it may do anything that the caller may"},
	{"a Safe's transaction", calling(execTransaction("0")), []string{blind}, strings.Replace(ownershipDetail, "transferOwnership(address)", safeFunction, 1)},
	{"a Safe's transaction with a refund", calling(execTransaction("05")), []string{blind, refund}, strings.Replace(ownershipDetail, "transferOwnership(address)", safeFunction, 1)},
	{"ownership", calling("f2fde38b" + word(attacker)), []string{blind, authority}, ownershipDetail},
	{"ownership to the signer", calling("f2fde38b" + word(signer)), []string{blind}, ownershipDetail},
	{"permit of the signer", calling("d505accf" + word(signer) + word(attacker) + word(strings.Repeat("f", 64)) + word("01") + word("1b") + word("01") + word("01")), []string{unlimited},
		"0xbaDBAdbADbaDBADBAdBaDbaDbadBAdbaDbaDbadb may take all of the token 0x1111111111111111111111111111111111111111 that 0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F has, now and later"},
	{"permit of another account", calling("d505accf" + word(attacker) + word(signer) + word(strings.Repeat("f", 64)) + word("01") + word("1b") + word("01") + word("01")), nil, ""},
}

func TestHazards(t *testing.T) {
	for _, c := range hazardCases {
		t.Run(c.name, func(t *testing.T) {
			chaintest.CheckHazards(t, hazardsOf(t, ethereum.Limits{}, c.raw), c.names, c.detail)
		})
	}
}

// swapsFor returns the calldata of a Universal Router that sells 1,000 units of USDC for at
// least some of USDT.
func swapsFor(least string) string {
	path := "a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48" + "000064" + "dac17f958d2ee523a2206206994597c13d831ec7" + strings.Repeat("00", 21)
	return "24856bc3" + word("40") + word("80") + word("1") + strings.Repeat("00", 32) + word("1") + word("20") + word("100") +
		word("1") + word("3e8") + word(least) + word("a0") + word("1") + word("2b") + path
}

// TestHazardLimits sets the configurable bounds.
func TestHazardLimits(t *testing.T) {
	raw := typed("02", with(items2, 8, "80")...)
	limits := ethereum.Limits{GasCap: 59_999, MaxSize: 109, MaxFee: 0.001}
	names := []string{ethereum.HazardGasOverCap, ethereum.HazardOversize, ethereum.HazardHighFee}
	chaintest.CheckHazards(t, hazardsOf(t, limits, raw), names, "gas 60000 is over the cap of 59999 (as configured): the network does not include it")
	limits = ethereum.Limits{GasCap: 60_000, MaxSize: 110, MaxFee: 0.0012}
	chaintest.CheckHazards(t, hazardsOf(t, limits, raw), nil, "")
}

// TestHazardNames checks that the list of names is complete.
func TestHazardNames(t *testing.T) {
	var seen []string
	for _, c := range hazardCases {
		seen = append(seen, c.names...)
	}
	chaintest.CheckAllSeen(t, ethereum.Chain{}, seen)
}

// TestHazardsWithoutKey checks that a transaction has the hazards that depend on no
// key, and that its signing has those too.
func TestHazardsWithoutKey(t *testing.T) {
	for _, c := range hazardCases {
		tx, err := ethereum.Chain{}.Parse(chaintest.Unhex(t, c.raw))
		testenv.Must(t, err)
		var want []string
		for _, name := range c.names {
			if name != authority && name != ethereum.HazardDelegation && c.name != "permit of the signer" {
				want = append(want, name)
			}
		}
		if got := chaintest.Names(tx.Hazards()); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

func hazardsOf(t *testing.T, limits ethereum.Limits, raw string) []chains.Hazard {
	t.Helper()
	tx, err := ethereum.New(limits).Parse(chaintest.Unhex(t, raw))
	testenv.Must(t, err)
	key := evmtest.Key(t, signerSecret)
	signing := chaintest.MustReady(t, tx, key.ID(), key)
	return signing.Hazards()
}
