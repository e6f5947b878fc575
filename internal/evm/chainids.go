package evm

import (
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

// TempoName returns the name of a chain of Tempo, empty for any other chain.
func TempoName(chainID uint64) string {
	switch chainID {
	case TempoMainnet:
		return "Tempo"
	case TempoTestnet:
		return "Tempo testnet"
	}
	return ""
}

// NetworkID returns the CAIP-2 id of a chain; "eip155" for 0, which names none.
func NetworkID(chainID uint64) string {
	if chainID == 0 {
		return "eip155"
	}
	if id, ok := networkIDs()[chainID]; ok {
		return id
	}
	return networkID(chainID)
}

// networkIDs has the ids of the chains whose fees are known, which are those of most
// transactions.
var networkIDs = sync.OnceValue(func() map[uint64]string {
	ids := map[uint64]string{1: networkID(1)}
	for chainID := range maxFees {
		ids[chainID] = networkID(chainID)
	}
	return ids
})

func networkID(chainID uint64) string {
	var room [7 + 20]byte
	return string(strconv.AppendUint(append(room[:0], "eip155:"...), chainID, 10))
}

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
// on chains that are not in maxFees.
const DefaultMaxFee = 0.5

// maxFees are the highest fees without a hazard, in whole units of the native asset, on
// the chains where they are not DefaultMaxFee: coins that are worth much more or less than
// ether, and chains of ether whose gas costs little. Where a coin is worth cents, ordinary
// transactions cost many: PulseChain's base fee has been over 10^6 gwei, and BitTorrent
// Chain takes no less than 9·10^6 gwei.
var maxFees = map[uint64]float64{
	10:           0.02,
	14:           100,
	19:           200,
	25:           100,
	30:           0.002,
	40:           50,
	50:           50,
	56:           0.1,
	100:          10,
	108:          500,
	109:          10,
	130:          0.02,
	137:          100,
	143:          50,
	146:          100,
	199:          5_000_000,
	204:          0.02,
	250:          20,
	295:          20,
	324:          0.02,
	361:          50,
	369:          100_000,
	480:          0.02,
	592:          100,
	747:          10,
	841:          500,
	888:          20,
	1030:         20,
	1284:         50,
	1329:         10,
	3637:         0.002,
	4114:         0.002,
	4200:         0.002,
	4689:         100,
	5000:         50,
	7000:         20,
	7700:         100,
	8217:         20,
	8453:         0.02,
	9745:         20,
	17000:        1000,
	23294:        50,
	33139:        10,
	42161:        0.02,
	42220:        10,
	43114:        2,
	59144:        0.02,
	80094:        10,
	81457:        0.02,
	84532:        1000,
	88888:        50,
	200901:       0.002,
	421614:       1000,
	534352:       0.02,
	560048:       1000,
	11155111:     1000,
	11155420:     1000,
	1666600000:   100,
	TempoMainnet: 100,
	TempoTestnet: 100_000,
}

// wholeFees are the chains whose fee is no more than gas at its price: those that settle on no
// other chain, and those whose gas pays for what they publish (Arbitrum's, ZKsync, Linea). On the
// others a fee for that may come on top (op-geth and scroll-geth, core/state_transition.go),
// which the transaction does not limit.
var wholeFees = map[uint64]bool{1: true, 14: true, 19: true, 25: true, 30: true, 40: true, 50: true, 56: true,
	61: true, 100: true, 137: true, 143: true, 146: true, 199: true, 250: true, 295: true, 324: true, 361: true,
	369: true, 592: true, 747: true, 1030: true, 1284: true,
	1329: true, 2741: true, 8217: true, 9745: true, 17000: true, 33139: true, 42161: true, 42170: true, 43114: true,
	59144: true, 80094: true,
	88888: true, 421614: true, 560048: true, 11155111: true, 1666600000: true, TempoMainnet: true, TempoTestnet: true}

// WholeFee reports whether the fee of a transaction on a chain is no more than gas at its price.
func WholeFee(chainID uint64) bool { return wholeFees[chainID] }

// maxFeeOn returns the highest fee on a chain without a hazard, in whole units of its
// native asset.
func maxFeeOn(chainID uint64) float64 {
	if fee, ok := maxFees[chainID]; ok {
		return fee
	}
	return DefaultMaxFee
}

// chainOf returns the chain id of an asset, 0 if the bytes do not name one of 64 bits.
func chainOf(asset chains.Asset) uint64 {
	id, err := strconv.ParseUint(strings.TrimPrefix(asset.Chain, "eip155:"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
