package ethereum

// network is what is shown of a chain id: its usual name and the ticker of its
// native token, which has 18 decimals everywhere.
type network struct {
	name, symbol string
	maxFee       float64 // in whole units of the native asset; 0: DefaultMaxFee
}

// networks has the chains that people name; the source is the registry of
// EIP-155 chain ids. A chain that is missing signs all the same.
var networks = map[uint64]network{
	1:        {"Ethereum", "ETH", 0},
	10:       {"OP Mainnet", "ETH", 0.02},
	56:       {"BNB Smart Chain", "BNB", 0.1},
	100:      {"Gnosis", "xDAI", 10},
	130:      {"Unichain", "ETH", 0.02},
	137:      {"Polygon", "POL", 100},
	146:      {"Sonic", "S", 100},
	324:      {"ZKsync Era", "ETH", 0.02},
	480:      {"World Chain", "ETH", 0.02},
	5000:     {"Mantle", "MNT", 50},
	8453:     {"Base", "ETH", 0.02},
	17000:    {"Holesky", "ETH", 1000},
	42161:    {"Arbitrum One", "ETH", 0.02},
	42220:    {"Celo", "CELO", 10},
	43114:    {"Avalanche C-Chain", "AVAX", 2},
	59144:    {"Linea", "ETH", 0.02},
	80094:    {"Berachain", "BERA", 10},
	81457:    {"Blast", "ETH", 0.02},
	84532:    {"Base Sepolia", "ETH", 1000},
	421614:   {"Arbitrum Sepolia", "ETH", 1000},
	534352:   {"Scroll", "ETH", 0.02},
	560048:   {"Hoodi", "ETH", 1000},
	11155111: {"Sepolia", "ETH", 1000},
	4217:     {"Tempo", "USD", 100},
	42431:    {"Tempo testnet", "USD", 100000},
	11155420: {"OP Sepolia", "ETH", 1000},
}

func networkOf(chainID uint64) network {
	known, ok := networks[chainID]
	if !ok {
		known.symbol = "native"
	}
	if known.maxFee == 0 {
		known.maxFee = DefaultMaxFee
	}
	return known
}

// The chains of Tempo take transactions of Ethereum's types 0, 1, 2 and 4, and
// have no native asset: gas is priced in 10⁻¹⁸ US dollars.
const (
	tempoMainnet = 4217
	tempoTestnet = 42431
)

func isTempo(chainID uint64) bool { return chainID == tempoMainnet || chainID == tempoTestnet }

// opStack are the chains that take an L1 data fee besides gas (op-geth
// core/state_transition.go). It is not in the transaction.
var opStack = map[uint64]bool{10: true, 130: true, 480: true, 8453: true, 42220: true, 81457: true, 84532: true, 11155420: true}

// gasCap is the gas that a transaction may have on a chain, and where that comes
// from. A chain that is missing has no such cap, or none that is known.
type gasCap struct {
	most uint64
	fork string
}

var gasCaps = map[uint64]gasCap{
	1:            {DefaultGasCap, "EIP-7825, Osaka"},
	17000:        {DefaultGasCap, "EIP-7825, Osaka"},
	560048:       {DefaultGasCap, "EIP-7825, Osaka"},
	11155111:     {1<<32 - 1, "EIP-8037, Amsterdam"},
	tempoMainnet: {30_000_000, "Tempo"},
	tempoTestnet: {30_000_000, "Tempo"},
}
