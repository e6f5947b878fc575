package chains

import "strings"

// Network is the usual name of a chain, and the unit of its native asset.
type Network struct {
	Name     string // empty if it is not known
	Symbol   string // ticker of the native asset; "native" if it is not known
	Decimals int
}

// networks are well-known chains by CAIP-2 id, with the names and tickers of the
// registry of EIP-155 chain ids. Transactions of other chains can be signed too.
var networks = map[string]Network{
	"eip155:1":        {"Ethereum", "ETH", 18},
	"eip155:10":       {"OP Mainnet", "ETH", 18},
	"eip155:56":       {"BNB Smart Chain", "BNB", 18},
	"eip155:100":      {"Gnosis", "xDAI", 18},
	"eip155:130":      {"Unichain", "ETH", 18},
	"eip155:137":      {"Polygon", "POL", 18},
	"eip155:146":      {"Sonic", "S", 18},
	"eip155:324":      {"ZKsync Era", "ETH", 18},
	"eip155:480":      {"World Chain", "ETH", 18},
	"eip155:5000":     {"Mantle", "MNT", 18},
	"eip155:8453":     {"Base", "ETH", 18},
	"eip155:17000":    {"Holesky", "ETH", 18},
	"eip155:42161":    {"Arbitrum One", "ETH", 18},
	"eip155:42220":    {"Celo", "CELO", 18},
	"eip155:43114":    {"Avalanche C-Chain", "AVAX", 18},
	"eip155:59144":    {"Linea", "ETH", 18},
	"eip155:80094":    {"Berachain", "BERA", 18},
	"eip155:81457":    {"Blast", "ETH", 18},
	"eip155:84532":    {"Base Sepolia", "ETH", 18},
	"eip155:421614":   {"Arbitrum Sepolia", "ETH", 18},
	"eip155:534352":   {"Scroll", "ETH", 18},
	"eip155:560048":   {"Hoodi", "ETH", 18},
	"eip155:11155111": {"Sepolia", "ETH", 18},
	"eip155:11155420": {"OP Sepolia", "ETH", 18},

	"solana": {"Solana", "SOL", 9},
	"tron":   {"Tron", "TRX", 6},
	"bip122": {"Bitcoin", "BTC", 8},
	"eip155": {"", unnamed, 18},
}

// unnamed stands for the ticker of a native asset that is not known.
const unnamed = "native"

// NetworkOf returns the network with a CAIP-2 id, or that of its namespace. Of a namespace
// that is not in the table, amounts are shown in smallest units.
func NetworkOf(chain string) Network {
	if network, ok := networks[chain]; ok {
		return network
	}
	namespace, _, _ := strings.Cut(chain, ":")
	if network, ok := networks[namespace]; ok {
		return network
	}
	return Network{"", "of the smallest unit of " + namespace, 0}
}
