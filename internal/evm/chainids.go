package evm

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/countersign-dev/countersign/chains"
)

// The chain ids of Tempo.
const (
	TempoMainnet = 4217
	TempoTestnet = 42431
)

var tempoNames = map[uint64]string{TempoMainnet: "Tempo", TempoTestnet: "Tempo testnet"}

// TempoName returns the name of a chain of Tempo, empty for any other chain.
func TempoName(chainID uint64) string { return tempoNames[chainID] }

// NetworkID returns the CAIP-2 id of a chain; "eip155" for 0, which names none.
func NetworkID(chainID uint64) string {
	if chainID == 0 {
		return "eip155"
	}
	if known, ok := chainsByID()[chainID]; ok {
		return known.network.ID
	}
	return networkID(chainID)
}

func networkID(chainID uint64) string { return "eip155:" + strconv.FormatUint(chainID, 10) }

// NamedNetwork returns what people call a chain with a CAIP-2 id, and the unit of its fees.
// The chains of Tempo, which take transactions of Ethereum's types 0, 1, 2 and 4, have
// no native asset: gas is priced in 10⁻¹⁸ US dollars.
func NamedNetwork(chainID uint64, id string) chains.Network {
	if name := TempoName(chainID); name != "" {
		return chains.Network{Name: name, Symbol: "USD", Decimals: 18}
	}
	return chains.NetworkOf(id)
}

// DefaultMaxFee is the highest fee without a hazard, in whole units of the native asset,
// on chains whose fees are not known.
const DefaultMaxFee = 0.5

// chainFees are the highest fees without a hazard, in whole units of the native asset: of coins
// that are worth much more or less than ether, and of chains of ether whose gas costs little. Where
// a coin is worth cents, ordinary transactions cost many: PulseChain's base fee has been over 10^6
// gwei, and BitTorrent Chain takes no less than 9·10^6 gwei.
//
// The fee is no more than gas at its price on the whole chains: those that settle on no other
// chain, and those whose gas pays for what they publish (Arbitrum's, ZKsync, Linea). On the others
// a fee for that may come on top (op-geth and scroll-geth, core/state_transition.go), which the
// transaction does not limit.
var chainFees = []struct {
	most         float64
	whole, other []uint64
}{
	{0.002, []uint64{30}, []uint64{3637, 4114, 4200, 200901}},
	{0.02, []uint64{324, 42161, 59144}, []uint64{10, 130, 204, 480, 8453, 81457, 534352}},
	{0.1, []uint64{56}, nil},
	{DefaultMaxFee, []uint64{1, 61, 2741, 42170}, nil},
	{2, []uint64{43114}, nil},
	{10, []uint64{100, 747, 1329, 33139, 80094}, []uint64{109, 42220}},
	{20, []uint64{250, 295, 1030, 8217, 9745}, []uint64{888, 7000}},
	{50, []uint64{40, 50, 143, 361, 1284, 88888}, []uint64{5000, 23294}},
	{100, []uint64{14, 25, 137, 146, 592, 1666600000, TempoMainnet}, []uint64{4689, 7700}},
	{200, []uint64{19}, nil},
	{500, nil, []uint64{108, 841}},
	{1000, []uint64{17000, 421614, 560048, 11155111}, []uint64{84532, 11155420}},
	{100_000, []uint64{369, TempoTestnet}, nil},
	{5_000_000, []uint64{199}, nil},
}

// chain is what is known of a chain.
type chain struct {
	network  *Network
	maxFee   float64
	wholeFee bool
}

// chainsByID are the chains whose fees are known, which are those of most transactions.
var chainsByID = sync.OnceValue(func() map[uint64]chain {
	all := map[uint64]chain{}
	for _, row := range chainFees {
		for i, chainID := range slices.Concat(row.whole, row.other) {
			all[chainID] = chain{newNetwork(chainID, networkID(chainID)), row.most, i < len(row.whole)}
		}
	}
	return all
})

// WholeFee reports whether the fee of a transaction on a chain is no more than gas at its price.
func WholeFee(chainID uint64) bool { return chainsByID()[chainID].wholeFee }

// chainOf returns the chain id of an asset, 0 if the bytes do not name one of 64 bits.
func chainOf(asset chains.Asset) uint64 {
	id, err := strconv.ParseUint(strings.TrimPrefix(asset.Chain, "eip155:"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// OnChain returns the network of a chain of EIP-155, whose CAIP-2 id says more than its
// number if that has over 64 bits, and is 0.
func OnChain(chainID uint64, id string) *Network {
	if known := NetworkOfChain(chainID); known.ID == id {
		return known
	}
	return newNetwork(chainID, id)
}

// NetworkOfChain is OnChain for a chain whose number says all.
func NetworkOfChain(chainID uint64) *Network {
	if known, ok := chainsByID()[chainID]; ok {
		return known.network
	}
	return newNetwork(chainID, NetworkID(chainID))
}

func newNetwork(chainID uint64, id string) *Network {
	return &Network{ID: id, ChainID: chainID, Symbol: NamedNetwork(chainID, id).Symbol, Decimals: 18}
}

// networkOf returns the network with a CAIP-2 id, for what is known of contracts there.
func networkOf(id string) *Network {
	return &Network{ID: id, ChainID: chainOf(chains.Asset{Chain: id})}
}
