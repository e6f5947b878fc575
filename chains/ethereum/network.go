package ethereum

// network is what is shown of a chain id: its usual name and the ticker of its
// native token, which has 18 decimals everywhere.
type network struct{ name, symbol string }

// networks has the chains that people name; the source is the registry of
// EIP-155 chain ids. A chain that is missing signs all the same.
var networks = map[uint64]network{
	1:        {"Ethereum", "ETH"},
	10:       {"OP Mainnet", "ETH"},
	56:       {"BNB Smart Chain", "BNB"},
	100:      {"Gnosis", "xDAI"},
	130:      {"Unichain", "ETH"},
	137:      {"Polygon", "POL"},
	146:      {"Sonic", "S"},
	324:      {"ZKsync Era", "ETH"},
	480:      {"World Chain", "ETH"},
	5000:     {"Mantle", "MNT"},
	8453:     {"Base", "ETH"},
	17000:    {"Holesky", "ETH"},
	42161:    {"Arbitrum One", "ETH"},
	42220:    {"Celo", "CELO"},
	43114:    {"Avalanche C-Chain", "AVAX"},
	59144:    {"Linea", "ETH"},
	80094:    {"Berachain", "BERA"},
	81457:    {"Blast", "ETH"},
	84532:    {"Base Sepolia", "ETH"},
	421614:   {"Arbitrum Sepolia", "ETH"},
	534352:   {"Scroll", "ETH"},
	560048:   {"Hoodi", "ETH"},
	11155111: {"Sepolia", "ETH"},
	11155420: {"OP Sepolia", "ETH"},
}

func networkOf(chainID uint64) network {
	if known, ok := networks[chainID]; ok {
		return known
	}
	return network{name: "", symbol: "native"}
}
